// Simulated object storage: a map of objects, and requests that travel to it and back.
//
// A request is sent, lands (the only moment at which the store is read or changed, all at once) and
// is answered; a `StoreFate` says what becomes of it on the way. That a request can land long after
// its sender has given up, died or been fenced, or land twice, is the point of the whole thing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/random.hpp"
#include "core/rt/store.hpp"
#include "sim/world/observer.hpp"
#include "sim/world/sim_trace.hpp"

namespace morula::sim {

/// What becomes of one request. The default: it lands after 2 ms and is answered after 2 more.
struct StoreFate {
  Duration to_store = std::chrono::milliseconds(2);
  Duration to_caller = std::chrono::milliseconds(2);  // counted from landing
  bool lands = true;                                  // false: lost on its way there
  bool answered = true;                               // false: the caller waits in vain
  /// The store answers this error instead of carrying the request out.
  std::optional<ErrorCode> refused;
  /// The store carries it out, and answers this error.
  std::optional<ErrorCode> spoiled;
  /// A copy of the request lands once more, so long after the first would have; nobody hears of it.
  std::optional<Duration> lands_again;
  /// A get returns the object with one bit flipped; the object itself is sound.
  bool flips_bit = false;
  /// A remove_many carries out only the first half of its keys. Goes with an error or no answer.
  bool half = false;
};

/// How the store behaves, whatever the faults.
struct StoreManners {
  StoreAbilities abilities;
  size_t page_keys_max = 1000;   // a listing never has more
  bool lists_etags = true;       // and when each object was written
  bool etag_is_content = false;  // equal contents have equal etags; otherwise each put's is new
  /// How often a put whose condition doesn't hold is answered 500, as some S3 servers do, instead
  /// of 412: its sender must find out what came of it.
  uint64_t loser_error_percent = 0;
  /// A caller without a deadline hears kTimeout after this time of its own clock.
  Duration patience = std::chrono::seconds(60);
};

class SimStore {
 public:
  struct Object {
    Blob body;
    Etag etag;
    TrueTime written;
  };
  using Fates = std::function<StoreFate(const StoreRequest&)>;

  SimStore(EventQueue& events, SimTrace& trace, uint64_t seed);

  /// Asked once for every request, when it is sent.
  void set_fates(Fates fates) { fates_ = std::move(fates); }
  void set_manners(const StoreManners& manners) { manners_ = manners; }
  const StoreManners& manners() const { return manners_; }

  // What lies in the store, for tests and checks: no request, no time, no fault.
  const std::map<std::string, Object, std::less<>>& objects() const { return objects_; }
  /// Null when absent.
  Blob peek(std::string_view key) const;
  std::vector<std::string> keys(std::string_view prefix = "") const;
  void plant(std::string_view key, std::string body);
  void destroy(std::string_view key) { objects_.erase(std::string(key)); }

  /// Requests sent since the start.
  uint64_t sent() const { return sent_; }
  uint64_t sent(StoreCall call) const { return sent_by_call_[static_cast<size_t>(call)]; }
  uint64_t sent(Purpose purpose) const { return sent_by_purpose_[static_cast<size_t>(purpose)]; }
  /// The same by name, those that were used.
  std::map<std::string, uint64_t> purposes() const;

 private:
  friend class SimStoreClient;
  struct Request;
  struct Answer;
  using RequestRef = std::shared_ptr<Request>;

  void send(const RequestRef& request, const Life& from);
  void land(Request& request, bool is_copy);
  /// Writes a line of the trace.
  void tell(const Request& request, const Answer& answer, bool is_copy) const;
  void carry_out(Request& request, Answer& answer);
  void get(Request& request, Answer& answer);
  void put(Request& request, Answer& answer);
  /// Why the condition of a put doesn't hold.
  std::optional<Error> refuse(const Request& request, const Object* found) const;
  void remove(Request& request, std::string_view key);
  void list(Request& request, Answer& answer);
  ObjectInfo info(const std::string& key, const Object& object) const;
  void answer(const RequestRef& request);
  StoreRequest seen(const Request& request) const;

  EventQueue& events_;
  SimTrace& trace_;
  Random random_;
  Fates fates_;
  StoreManners manners_;
  std::map<std::string, Object, std::less<>> objects_;
  uint64_t puts_ = 0;
  uint64_t sent_ = 0;
  std::array<uint64_t, 6> sent_by_call_{};
  std::array<uint64_t, 16> sent_by_purpose_{};
};

/// The Store of one run of a process.
class SimStoreClient final : public Store {
 public:
  SimStoreClient(SimStore& store, const Life& life, Clock& clock)
      : store_(store), life_(life), clock_(clock) {}

  StoreAbilities abilities() const override { return store_.manners_.abilities; }
  Result<StoredObject> get(std::string_view key, std::optional<ByteRange> range,
                           const RequestOptions& options) override;
  Result<ObjectInfo> head(std::string_view key, const RequestOptions& options) override;
  Result<Etag> put(std::string_view key, Blob body, const Precondition& precondition,
                   const RequestOptions& options) override;
  Result<> remove(std::string_view key, const RequestOptions& options) override;
  Result<> remove_many(std::span<const std::string> keys, const RequestOptions& options) override;
  Result<Listing> list(std::string_view prefix, std::string_view start_after, size_t limit,
                       const RequestOptions& options) override;

 private:
  SimStore::RequestRef make(StoreCall call, std::string_view key, const RequestOptions& options);
  /// Sends and suspends until answered.
  Result<> perform(const SimStore::RequestRef& request, const RequestOptions& options);

  SimStore& store_;
  const Life& life_;
  Clock& clock_;
};

}  // namespace morula::sim
