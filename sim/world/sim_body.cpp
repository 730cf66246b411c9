#include <algorithm>
#include <utility>

#include "sim/world/sim_call.hpp"

namespace morula::sim {

SimNetwork::Incoming::~Incoming() {
  if (!call_) return;
  if (in_pieces_) {
    end(Piece::Kind::kCut);
  } else {
    answer(fail(ErrorCode::kUnavailable, "simulated network: connection closed"));
  }
}

void SimNetwork::Incoming::handle(const Network::Handler& handler, Clock& clock) {
  for (Observer* observer : network_->trace_.observers()) {
    observer->on_call_arrived(call_->callee, call_->number, call_->request);
  }
  HttpResponse response = handler(call_->request);
  // Until the body has left: the caller is another process, with its own budget.
  const std::shared_ptr<MemoryReservation> memory = std::move(response.body_memory);
  const std::shared_ptr<BodySource> source = std::move(response.source);
  const bool splits = !call_->whole && response.body.size() > call_->bounds.window_bytes;
  if (!source && !splits) return answer(std::move(response));
  const std::string body = splits ? response.body : std::string();
  response.source = std::make_shared<Announcement>(source ? source->length() : body.size());
  in_pieces_ = true;
  network_->answer(call_, std::move(response));
  // The caller may hang up while this waits for anything.
  with_scope(Domain::current(), [&](Scope& scope) {
    call_->sending = &scope;
    scope.spawn("body", [&] {
      if (source) return send_source(*source, clock);
      if (send_bytes(body, clock)) end(Piece::Kind::kEnd);
    });
    scope.join();
  });
}

bool SimNetwork::Incoming::await_room(Clock& clock) {
  while (!call_->hung_up && call_->outstanding >= call_->bounds.window_bytes) {
    if (!call_->room.wait_until(clock, clock.now() + SimPort::kWritePatience)) return false;
  }
  return !call_->hung_up;
}

void SimNetwork::Incoming::send_source(BodySource& source, Clock& clock) {
  while (await_room(clock)) {
    const auto piece = source.next();
    if (!piece) return;
    if (piece->empty()) return end(Piece::Kind::kEnd);
    if (!send_bytes(*piece, clock)) return;
  }
}

bool SimNetwork::Incoming::send_bytes(std::string_view bytes, Clock& clock) {
  while (!bytes.empty()) {
    if (!await_room(clock)) return false;
    const CallFate fate = network_->fate(call_->callee, call_->caller, Way::kPiece);
    const uint64_t room = call_->bounds.window_bytes - call_->outstanding;
    const std::string_view piece = bytes.substr(0, std::min(fate.piece_bytes, room));
    bytes.remove_prefix(piece.size());
    network_->send_piece(call_, {Piece::Kind::kBytes, std::string(piece)}, fate);
  }
  return true;
}

void SimNetwork::Incoming::end(Piece::Kind how) {
  const CallRef call = std::exchange(call_, nullptr);
  call->sending = nullptr;
  network_->send_piece(call, {how, {}}, network_->fate(call->callee, call->caller, Way::kPiece));
}

void SimNetwork::send_piece(const CallRef& call, Piece piece, const CallFate& fate) {
  const uint64_t number = call->sent++;
  call->outstanding += piece.bytes.size();
  call->swallowed = call->swallowed || fate.lost;
  if (call->swallowed) return;
  call->on_their_way.emplace(number, std::move(piece));
  call->last_arrival = std::max(call->last_arrival, events_.now() + fate.delay);
  events_.at(call->last_arrival, call->caller_ears, [this, call, number] {
    auto piece_node = call->on_their_way.extract(number);
    trace_.hash().add(static_cast<uint64_t>(TraceKind::kPieceArrived) << 56 | call->number);
    trace_.hash().add(number << 32 | piece_node.mapped().bytes.size());
    call->arrived.insert(std::move(piece_node));
    call->waiter.wake_all();
  });
}

void SimNetwork::took(const CallRef& call, uint64_t bytes) {
  const CallFate back = fate(call->caller, call->callee, Way::kPiece);
  if (back.lost) return;
  events_.after(back.delay, call->callee_ears, [call, bytes] {
    call->outstanding -= bytes;
    call->room.wake_all();
  });
}

void SimNetwork::hang_up(const CallRef& call) {
  const CallFate back = fate(call->caller, call->callee, Way::kPiece);
  if (back.lost) return;
  events_.after(back.delay, call->callee_ears, [call] {
    call->hung_up = true;
    if (call->sending != nullptr) call->sending->cancel();
  });
}

SimNetwork::Body::~Body() {
  if (!ended_) network_.hang_up(call_);
}

Result<std::string> SimNetwork::Body::all_until(Time deadline) {
  std::string body;
  for (;;) {
    const auto piece = next_until(deadline);
    MORULA_TRY(piece);
    if (piece->empty()) return body;
    body += *piece;
  }
}

Result<std::string> SimNetwork::Body::next_until(Time deadline) {
  for (;;) {
    const auto found = call_->arrived.find(call_->taken);
    if (found != call_->arrived.end()) {
      Piece piece = std::move(found->second);
      call_->arrived.erase(found);
      ++call_->taken;
      if (piece.kind == Piece::Kind::kBytes) {
        network_.took(call_, piece.bytes.size());
        return std::move(piece.bytes);
      }
      ended_ = true;
      if (piece.kind == Piece::Kind::kEnd) return std::string();
      return fail(ErrorCode::kUnavailable, "simulated network: the body was cut");
    }
    if (!call_->waiter.wait_until(clock_, deadline)) {
      return fail(ErrorCode::kTimeout, "simulated network: no more of the body in time");
    }
  }
}

}  // namespace morula::sim
