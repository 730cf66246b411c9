#include "bench/load/connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace morula::load {
namespace {

constexpr size_t kPieces = 64;
// A body up to this costs less to copy than as a piece of its own.
constexpr size_t kCopiedBytes = 4096;
constexpr timeval kOpenTimeout{5, 0};

}  // namespace

Connection::Connection(const Target& target, Protocol& protocol, size_t index, size_t depth)
    : target_(target), protocol_(protocol), index_(index), slots_(depth) {}

Result<> Connection::open() {
  close();
  const int family = target_.address.ss_family;
  socket_.reset(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket_) return fail(file_error(errno, "open a socket"));
  const int on = 1;
  ::setsockopt(fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  ::setsockopt(fd(), SOL_SOCKET, SO_SNDTIMEO, &kOpenTimeout, sizeof(kOpenTimeout));
  ::setsockopt(fd(), SOL_SOCKET, SO_RCVTIMEO, &kOpenTimeout, sizeof(kOpenTimeout));
  const auto* address = reinterpret_cast<const sockaddr*>(&target_.address);
  if (::connect(fd(), address, target_.address_length) != 0) {
    const std::string why = strerrordesc_np(errno);
    close();
    return fail(ErrorCode::kUnavailable,
                fmt::format("cannot connect to {}: {}", target_.host_and_port(), why));
  }
  scanner_ = protocol_.scanner();
  if (auto greeted = greet(); !greeted) {
    close();
    return greeted;
  }
  ::fcntl(fd(), F_SETFL, ::fcntl(fd(), F_GETFL) | O_NONBLOCK);
  return {};
}

Result<> Connection::greet() {
  const auto greeting = protocol_.greeting(index_);
  if (greeting.replies == 0) return {};
  const auto lost = [&] {
    return fail(ErrorCode::kUnavailable, target_.host_and_port() + " does not greet back");
  };
  if (write_all(fd(), greeting.bytes) != 0) return lost();
  for (size_t replies = 0; replies < greeting.replies;) {
    char buffer[4096];
    const ssize_t n = ::recv(fd(), buffer, sizeof(buffer), 0);
    if (n <= 0) return lost();
    for (std::string_view bytes(buffer, static_cast<size_t>(n)); !bytes.empty();) {
      std::optional<Reply> reply;
      bytes.remove_prefix(scanner_->take(bytes, reply));
      if (reply && reply->status != 200) return fail(ErrorCode::kDenied, reply->text);
      if (reply) ++replies;
    }
  }
  return {};
}

void Connection::close() {
  socket_.reset();
  scanner_.reset();
  first_ = count_ = sent_ = sent_of_next_ = 0;
  owed_.clear();
}

void Connection::begin(Operation operation, size_t stream, int64_t since_ns) {
  InFlight& next = slot(count_++);
  next.operation = operation;
  next.since_ns = since_ns;
  Request request{&next.head, {}};
  protocol_.write(operation, stream, index_, request);
  next.body = request.body;
  if (next.body.size() <= kCopiedBytes) {
    next.head += next.body;
    next.body = {};
  }
}

Connection::Io Connection::send() {
  if (!owed_.empty()) {
    if (const Io io = send_owed(); io != Io::kDone) return io;
  }
  while (sent_ < count_) {
    std::array<iovec, kPieces> pieces;
    size_t pieces_count = 0;
    size_t skip = sent_of_next_;
    const auto add = [&](std::string_view bytes) {
      const size_t skipped = std::min(skip, bytes.size());
      skip -= skipped;
      bytes.remove_prefix(skipped);
      if (!bytes.empty()) {
        pieces[pieces_count++] = {const_cast<char*>(bytes.data()), bytes.size()};
      }
    };
    for (size_t i = sent_; i < count_ && pieces_count + 2 <= kPieces; ++i) {
      add(slot(i).head);
      add(slot(i).body);
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces_count;
    const ssize_t n = ::sendmsg(fd(), &message, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      return errno == EAGAIN ? Io::kBlocked : Io::kLost;
    }
    advance(static_cast<size_t>(n));
  }
  return Io::kDone;
}

void Connection::advance(size_t sent) {
  bytes_sent_ += sent;
  sent_of_next_ += sent;
  while (sent_ < count_) {
    const size_t size = slot(sent_).head.size() + slot(sent_).body.size();
    if (sent_of_next_ < size) return;
    sent_of_next_ -= size;
    ++sent_;
  }
}

Connection::Io Connection::send_owed() {
  if (sent_of_next_ > 0) return Io::kBlocked;  // not into the middle of a request
  const ssize_t n = ::send(fd(), owed_.data(), owed_.size(), MSG_NOSIGNAL);
  if (n < 0) return errno == EAGAIN || errno == EINTR ? Io::kBlocked : Io::kLost;
  owed_.erase(0, static_cast<size_t>(n));
  return owed_.empty() ? Io::kDone : Io::kBlocked;
}

Connection::Io Connection::read(std::vector<char>& buffer, size_t& size) {
  for (;;) {
    const ssize_t n = ::recv(fd(), buffer.data(), buffer.size(), 0);
    if (n > 0) {
      size = static_cast<size_t>(n);
      bytes_received_ += size;
      return Io::kDone;
    }
    if (n == 0) return Io::kLost;
    if (errno == EINTR) continue;
    return errno == EAGAIN ? Io::kBlocked : Io::kLost;
  }
}

}  // namespace morula::load
