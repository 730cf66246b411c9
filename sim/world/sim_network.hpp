// Calls between simulated processes.
//
// A request travels to whoever serves its address at that moment, waits there while that process is
// paused, runs the handler in a fiber, and its answer travels back. A `CallFate` is drawn for each
// way. When the serving process dies, or its handler is cancelled, the connection closes and the
// caller hears kUnavailable, unless the link swallows that too.
//
// A body in pieces (of a source, or a long one that the caller takes in pieces) follows its head
// piece by piece, in order, each with a fate of its own: once one is lost, nothing comes any more.
// The handler's fiber sends as the caller takes; it sends no more when its process is paused or
// dead, and is stopped when the caller hangs up. Where a body ends is told by its last message
// alone, never by its length.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "core/rt/clock.hpp"
#include "core/rt/network.hpp"
#include "sim/world/life.hpp"
#include "sim/world/sim_trace.hpp"

namespace morula::sim {

/// What becomes of one message.
struct CallFate {
  Duration delay = std::chrono::microseconds(300);
  bool lost = false;            // swallowed: the caller hears nothing until its deadline
  uint64_t piece_bytes = 4096;  // of a body's piece, at most
};

class SimPort;

class SimNetwork {
 public:
  enum class Way : uint8_t { kRequest, kAnswer, kPiece };
  using Fates = std::function<CallFate(ProcessId from, ProcessId to, Way way)>;

  SimNetwork(EventQueue& events, SimTrace& trace) : events_(events), trace_(trace) {}

  /// Asked for every message when it is sent. `to` of a request to an address that nobody has ever
  /// had is the caller itself.
  void set_fates(Fates fates) { fates_ = std::move(fates); }

  /// "http://<name>:4437"
  static std::string address_of(const std::string& name) { return "http://" + name + ":4437"; }
  void name_process(ProcessId process, const std::string& name) {
    owners_[address_of(name)] = process;
  }

  uint64_t calls() const { return calls_; }

 private:
  friend class SimPort;
  struct Call;
  struct Piece;
  class Incoming;
  class Announcement;
  class Body;
  using CallRef = std::shared_ptr<Call>;

  void send(const CallRef& call, const Life& from);
  void arrive(const CallRef& call);
  void answer(const CallRef& call, Result<HttpResponse> response);
  /// sim_body.cpp. The caller sees `piece`, the body's next, in time.
  void send_piece(const CallRef& call, Piece piece, const CallFate& fate);
  /// The sender sees that the caller has taken so much, or has hung up.
  void took(const CallRef& call, uint64_t bytes);
  void hang_up(const CallRef& call);
  CallFate fate(ProcessId from, ProcessId to, Way way);

  EventQueue& events_;
  SimTrace& trace_;
  Fates fates_;
  std::map<std::string, ProcessId> owners_;  // by address, also of the dead
  std::map<std::string, SimPort*> serving_;  // by address
  uint64_t calls_ = 0;
};

/// The Network of one run of a process.
class SimPort final : public Network {
 public:
  SimPort(SimNetwork& network, const Life& life, Clock& clock, std::string address)
      : network_(network), life_(life), clock_(clock), address_(std::move(address)) {}
  ~SimPort() override { close(); }

  std::string address() const override { return address_; }
  Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                            Time deadline) override;
  Result<HttpResponse> call_in_pieces(const std::string& address, const HttpRequest& request,
                                      Time deadline, const BodyBounds& bounds) override;
  void serve(Scope& scope, Handler handler) override;
  void stop_serving() override;

  /// The process has died: its address is free for the next.
  void close();

  /// A caller without a deadline hears kTimeout after this time of its own clock.
  static constexpr Duration kPatience = std::chrono::seconds(120);
  /// A body whose caller takes nothing of it for so long is given up.
  static constexpr Duration kWritePatience = std::chrono::seconds(30);

 private:
  friend class SimNetwork;

  Result<HttpResponse> open(const std::string& address, const HttpRequest& request, Time deadline,
                            const BodyBounds& bounds, bool whole);

  SimNetwork& network_;
  const Life& life_;
  Clock& clock_;
  std::string address_;
  Scope* scope_ = nullptr;
  std::shared_ptr<Handler> handler_;  // running requests keep it past `stop_serving`
};

}  // namespace morula::sim
