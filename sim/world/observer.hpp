// Who watches a world from outside: the invariants, the reports, a test. No process sees it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "core/base/bytes.hpp"
#include "core/rt/network.hpp"
#include "core/rt/store.hpp"
#include "core/rt/trace.hpp"
#include "sim/world/life.hpp"

namespace morula::sim {

using morula::StoreCall;

/// A request at the store, when it was sent and again when it lands.
struct StoreRequest {
  StoreCall call = StoreCall::kGet;
  std::string_view key;  // kList: the prefix; kRemoveMany: the first key
  Purpose purpose = Purpose::kOwnership;
  const Precondition* precondition = nullptr;  // with kPut
  const Blob* body = nullptr;                  // with kPut
  bool will_land = true;  // the store will carry it out, now or late; not: lost or refused
  ProcessId process = 0;
  uint32_t life = 0;    // which run of the process
  uint64_t number = 0;  // of all requests of the world; a copy of a request has the same
};

/// Default methods do nothing. Called at the moment of the event, outside or inside fibers; must
/// not change the world, other than by `World::fail`.
class Observer {
 public:
  virtual ~Observer() = default;

  virtual void on_step(const Life& /*by*/, const StepEvent& /*event*/) {}
  virtual void on_log(const Life& /*by*/, Severity /*severity*/, std::string_view /*event*/,
                      std::initializer_list<LogField> /*fields*/) {}
  virtual void on_store_sent(const StoreRequest& /*request*/) {}
  /// The store now holds `body` under `key` (null: nothing any more). `request.number` is 0 when
  /// the world itself has put it there.
  virtual void on_store_changed(const StoreRequest& /*request*/, std::string_view /*key*/,
                                const Blob& /*body*/) {}
  /// A get was answered with a flipped bit; the object itself is sound.
  virtual void on_bit_flipped(const StoreRequest& /*request*/) {}
  /// A process begins to handle a request, in the fiber that runs now. `number`: of all calls.
  virtual void on_call_arrived(ProcessId /*at*/, uint64_t /*number*/,
                               const HttpRequest& /*request*/) {}
  /// It has answered it; null: cut off, the connection closes.
  virtual void on_call_answered(ProcessId /*at*/, uint64_t /*number*/,
                                const HttpRequest& /*request*/, const HttpResponse* /*response*/) {}
  virtual void on_started(const Life& /*life*/) {}
  virtual void on_ended(const Life& /*life*/) {}
  virtual void on_paused(const Life& /*life*/) {}
  virtual void on_resumed(const Life& /*life*/) {}
  /// Somebody sets a wall clock: called before and after.
  virtual void on_wall_set() {}
};

}  // namespace morula::sim
