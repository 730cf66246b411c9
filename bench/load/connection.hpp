// One connection to the server: the requests that are on their way, in order, and their answers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/load/protocol.hpp"
#include "bench/load/target.hpp"
#include "core/base/result.hpp"
#include "prod/posix_file.hpp"

namespace morula::load {

/// A request from its beginning to its answer.
struct InFlight {
  Operation operation = Operation::kAppend;
  int64_t since_ns = 0;  // what its latency is counted from
  std::string head;
  std::string_view body;
};

class Connection {
 public:
  /// At most `depth` requests are under way at once.
  Connection(const Target& target, Protocol& protocol, size_t index, size_t depth);

  /// Connects and greets; blocks, for 5 s at most. Also after `close`. kUnavailable.
  Result<> open();
  void close();
  bool is_open() const { return static_cast<bool>(socket_); }
  int fd() const { return socket_.get(); }

  bool has_room() const { return count_ < slots_.size(); }
  size_t under_way() const { return count_; }
  /// There is room. Nothing is sent before `send`.
  void begin(Operation operation, size_t stream, int64_t since_ns);

  enum class Io : uint8_t { kDone, kMore, kBlocked, kLost };
  /// Sends what has begun. kBlocked: call again once the socket is writable.
  Io send();
  /// Reads once into `buffer` and calls `on_reply(const InFlight&, const Reply&)` for each answer.
  /// kMore: the buffer was full, there may be more.
  template <class OnReply>
  Io receive(std::vector<char>& buffer, OnReply&& on_reply);

  uint64_t bytes_sent() const { return bytes_sent_; }
  uint64_t bytes_received() const { return bytes_received_; }

 private:
  Io read(std::vector<char>& buffer, size_t& size);
  Result<> greet();
  Io send_owed();
  void advance(size_t sent);
  InFlight& slot(size_t i) { return slots_[(first_ + i) % slots_.size()]; }

  const Target& target_;
  Protocol& protocol_;
  size_t index_;
  UniqueFd socket_;
  std::unique_ptr<ReplyScanner> scanner_;
  std::vector<InFlight> slots_;  // a ring
  size_t first_ = 0;
  size_t count_ = 0;
  size_t sent_ = 0;          // of the requests under way
  size_t sent_of_next_ = 0;  // bytes
  std::string owed_;
  uint64_t bytes_sent_ = 0;
  uint64_t bytes_received_ = 0;
};

template <class OnReply>
Connection::Io Connection::receive(std::vector<char>& buffer, OnReply&& on_reply) {
  size_t size = 0;
  if (const Io io = read(buffer, size); io != Io::kDone) return io;
  std::string_view bytes(buffer.data(), size);
  while (!bytes.empty()) {
    std::optional<Reply> reply;
    bytes.remove_prefix(scanner_->take(bytes, reply));
    owed_ += scanner_->owed();
    if (!reply) continue;
    if (sent_ == 0) return Io::kLost;  // an answer to nothing
    const InFlight& answered = slot(0);
    first_ = (first_ + 1) % slots_.size();
    --count_;
    --sent_;
    on_reply(answered, *reply);
    if (reply->closes) return Io::kLost;
  }
  if (!owed_.empty()) (void)send_owed();  // or with the next request
  return size == buffer.size() ? Io::kMore : Io::kDone;
}

}  // namespace morula::load
