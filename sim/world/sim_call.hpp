// A call on its way through the simulated network. Only for the network's own files.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/rt/fiber.hpp"
#include "sim/world/sim_network.hpp"

namespace morula::sim {

struct SimNetwork::Piece {
  enum class Kind : uint8_t { kBytes, kEnd, kCut } kind = Kind::kBytes;
  std::string bytes;
};

struct SimNetwork::Call {
  std::string address;
  HttpRequest request;
  uint64_t number = 0;
  ProcessId caller = 0;
  EventQueue::GateId caller_ears = EventQueue::kAlwaysOpen;
  ProcessId callee = 0;
  EventQueue::GateId callee_ears = EventQueue::kAlwaysOpen;

  std::optional<Result<HttpResponse>> response;
  bool heard = false;  // the caller has the response, or its head
  WaitList waiter;     // the caller

  // A body in pieces: what the caller wants.
  BodyBounds bounds;
  bool whole = false;  // a body that isn't a source's comes with the head

  // Its way, by number of the piece: events that a paused process holds back come in any order.
  std::map<uint64_t, Piece> on_their_way;
  std::map<uint64_t, Piece> arrived;
  uint64_t sent = 0;   // pieces
  uint64_t taken = 0;  // pieces
  TrueTime last_arrival{};
  bool swallowed = false;  // a piece was lost

  // As the sender knows it.
  uint64_t outstanding = 0;  // bytes
  bool hung_up = false;
  WaitList room;
  Scope* sending = nullptr;  // its fiber, while there is one
};

/// A request that has reached a process; when it is dropped unanswered, or with its body half sent,
/// its connection closes.
class SimNetwork::Incoming {
 public:
  Incoming(SimNetwork& network, CallRef call) : network_(&network), call_(std::move(call)) {}
  Incoming(Incoming&& other) noexcept = default;
  Incoming& operator=(Incoming&& other) = delete;
  ~Incoming();

  /// In a fiber of the process whose port it is.
  void handle(const Network::Handler& handler, Clock& clock);
  void answer(Result<HttpResponse> response) {
    network_->answer(std::exchange(call_, nullptr), std::move(response));
  }

 private:
  void send_source(BodySource& source, Clock& clock);
  /// False: nobody takes them any more.
  bool send_bytes(std::string_view bytes, Clock& clock);
  bool await_room(Clock& clock);
  void end(Piece::Kind how);

  SimNetwork* network_;
  CallRef call_;
  bool in_pieces_ = false;
};

/// What a head says of the body that follows it.
class SimNetwork::Announcement final : public BodySource {
 public:
  explicit Announcement(std::optional<uint64_t> length) : length_(length) {}
  std::optional<uint64_t> length() const override { return length_; }
  Result<std::string> next() override { return fail(ErrorCode::kInvalid, "it has no bytes"); }

 private:
  const std::optional<uint64_t> length_;
};

/// What the caller has of an answer. Dropped before its end, it hangs up.
class SimNetwork::Body final : public BodySource {
 public:
  Body(SimNetwork& network, CallRef call, Clock& clock)
      : network_(network), call_(std::move(call)), clock_(clock) {}
  ~Body() override;

  /// The answer came whole.
  void no_more() { ended_ = true; }
  void announce(std::optional<uint64_t> length) { length_ = length; }
  Result<std::string> all_until(Time deadline);

  std::optional<uint64_t> length() const override { return length_; }
  Result<std::string> next() override { return next_until(clock_.now() + call_->bounds.silence); }

 private:
  Result<std::string> next_until(Time deadline);

  SimNetwork& network_;
  CallRef call_;
  Clock& clock_;
  std::optional<uint64_t> length_;
  bool ended_ = false;
};

}  // namespace morula::sim
