#include "prod/http/http_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/units.hpp"
#include "prod/http/http_body.hpp"

namespace morula {
namespace {

constexpr size_t kReadBytes = 64 * kKiB;
// So much is read of one connection before others have their turn.
constexpr int kReadsPerTurn = 4;
constexpr size_t kPiecesPerWrite = 16;
// A body up to this goes out in one piece with its head.
constexpr size_t kCopiedBodyBytes = 4096;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// True: all of it, or there is none to be sent.
bool send_in_pieces(HttpExchange& exchange, MemoryBudget& memory) {
  struct AtEnd {
    HttpResponse& response;
    ~AtEnd() { response.source.reset(); }
  } const at_end{exchange.response};
  if (exchange.connection == nullptr) return true;
  ResponseFraming framing;
  framing.to_head = exchange.to_head;
  if (!has_body(exchange.response, framing)) return true;
  // Another fiber.
  const MemoryReservation own_memory = memory.requests.hold(HttpServer::kRequestBytes);
  HttpBody body(exchange);
  exchange.answered = true;
  exchange.connection->answered();
  return body.send();
}

}  // namespace

HttpConnection::HttpConnection(HttpServer& server, UniqueFd fd)
    : server_(server),
      fd_(std::move(fd)),
      watch_(std::make_unique<FdWatch>(server.loop_, fd_.get(), static_cast<FdEvents&>(*this))),
      own_memory_(server.memory_.connections.hold(HttpServer::kConnectionBytes)) {}

HttpConnection::~HttpConnection() {
  if (!closed_) {
    for (const auto& exchange : line_) exchange->connection = nullptr;
  }
}

void HttpConnection::start() {
  set_read_deadline(server_.config_.head_timeout);
  watch_->await_readable();
}

void HttpConnection::set_read_deadline(Duration after) {
  read_deadline_ = server_.loop_.looked_at() + after;
}

// ---- reading

void HttpConnection::on_readable() {
  if (lingering_) return throw_away_input();
  if (!reads_requests()) return watch_for_leaving();
  read_some();
}

bool HttpConnection::takes_no_more() const {
  return line_.size() >= server_.config_.pipelined_max || !outgoing_.empty();
}

void HttpConnection::read_some() {
  for (int i = 0; i < kReadsPerTurn && reads_requests() && !takes_no_more(); ++i) {
    char* buffer = server_.read_buffer_.get();
    const ssize_t n = ::recv(fd_.get(), buffer, kReadBytes, 0);
    if (n > 0) {
      take(std::string_view(buffer, static_cast<size_t>(n)));
      if (static_cast<size_t>(n) < kReadBytes) break;
    } else if (n == 0) {
      end_of_input();
    } else if (errno == EINTR) {
      continue;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      break;
    } else {
      return close();
    }
  }
  if (!reads_requests()) return;
  if (!takes_no_more()) return watch_->await_readable();
  if (!left_unread_since_) left_unread_since_ = server_.loop_.looked_at();
}

void HttpConnection::take(std::string_view bytes) {
  if (unparsed_.empty()) {
    const size_t parsed = parse(bytes);
    if (!closed_) unparsed_.assign(bytes.substr(parsed));
  } else {
    unparsed_.append(bytes);
    const size_t parsed = parse(unparsed_);
    if (!closed_) unparsed_.erase(0, parsed);
  }
  // An idle connection holds no buffer.
  if (unparsed_.empty() || !reads_requests()) std::string().swap(unparsed_);
}

size_t HttpConnection::parse(std::string_view bytes) {
  size_t parsed = 0;
  while (parsed < bytes.size() && reads_requests() && !takes_no_more()) {
    if (!parser_) {
      parser_ = server_.take_parser();
      set_read_deadline(server_.config_.head_timeout);
    }
    const size_t taken = parser_->feed(bytes.substr(parsed));
    parsed += taken;
    if (parser_->problem()) {
      const HttpProblem problem = *parser_->problem();
      refuse(problem.status, problem.code, problem.message);
      return parsed;
    }
    if (parser_->head_done() && !head_seen_) head_arrived();
    if (parser_ && head_seen_) body_grew();
    if (!parser_) return parsed;
    if (parser_->done()) {
      dispatch();
    } else if (taken == 0) {
      break;  // it needs more than there is
    }
  }
  return parsed;
}

void HttpConnection::head_arrived() {
  head_seen_ = true;
  body_begun_ = server_.loop_.looked_at();
  if (const auto length = parser_->content_length(); length && *length > 0) {
    auto reserved = server_.memory_.reserve_body(*length);
    if (!reserved) return refuse_body(reserved.error());
    body_memory_ = std::move(*reserved);
    parser_->make_room(*length);
  }
  if (parser_->done() || !parser_->expects_continue() || parser_->body_bytes() > 0) return;
  const auto interim = std::make_shared<HttpExchange>();
  interim->connection = this;
  interim->interim = true;
  interim->answered = true;
  line_.push_back(interim);
  answered();
}

void HttpConnection::body_grew() {
  const uint64_t size = parser_->body_bytes();
  const auto earned = std::chrono::seconds(size / server_.config_.body_bytes_per_second_min);
  read_deadline_ = body_begun_ + server_.config_.body_timeout + earned;
  if (parser_->content_length() || size == 0) return;
  if (body_memory_.bytes() == 0) {
    auto reserved = server_.memory_.reserve_body(parser_->body_memory());
    if (!reserved) return refuse_body(reserved.error());
    body_memory_ = std::move(*reserved);
  }
  const auto grown = server_.memory_.grow_body(body_memory_, parser_->body_memory());
  if (!grown) refuse_body(grown.error());
}

void HttpConnection::refuse_body(const Error& error) {
  const bool shed = error.code == ErrorCode::kShed;
  refuse(503, to_string(shed ? MemoryRefusal::kRssShed : MemoryRefusal::kAppendMemoryBusy),
         error.message + "; nothing was done, try again later");
}

void HttpConnection::dispatch() {
  const auto exchange = std::make_shared<HttpExchange>();
  exchange->connection = this;
  exchange->to_head = parser_->method() == "HEAD";
  exchange->keeps_alive = parser_->keeps_alive();
  exchange->is_1_1 = parser_->is_1_1();
  HttpRequest request = parser_->take();
  server_.give_back(std::move(parser_));
  head_seen_ = false;
  set_read_deadline(server_.config_.idle_timeout);
  if (!exchange->keeps_alive) closing_ = true;
  line_.push_back(exchange);
  run_handler(exchange, std::move(request));
}

void HttpConnection::run_handler(const std::shared_ptr<HttpExchange>& exchange,
                                 HttpRequest request) {
  const auto serving = server_.serving_;
  if (!serving || server_.running_ >= server_.config_.requests_max) {
    exchange->response =
        serving ? server_error(503, "busy", "too many requests are under way; try again later")
                : server_error(503, "not_serving", "the instance is starting or stopping");
    exchange->answered = true;
    body_memory_ = {};
    return answered();
  }
  ++server_.running_;
  // The serving's scope outlives its children, and the server the scope.
  serving->scope.spawn(
      "request",
      [serving, exchange, request = std::move(request), body_memory = std::move(body_memory_),
       own_memory = server_.memory_.requests.hold(HttpServer::kRequestBytes), server = &server_] {
        struct AtEnd {
          HttpServer& server;
          HttpExchange& exchange;
          bool done = false;
          ~AtEnd() {
            --server.running_;
            if (exchange.connection == nullptr) return;
            if (done) {
              exchange.connection->answered();
            } else {
              exchange.connection->abandoned(exchange);
            }
          }
        } at_end{*server, *exchange};
        exchange->response = serving->handler(request);
        at_end.done = !exchange->response.source || send_in_pieces(*exchange, server->memory_);
        exchange->answered = true;
      });
}

void HttpConnection::end_of_input() {
  eof_ = true;
  if (parser_) {
    return refuse(400, "truncated", "the connection was closed in the middle of the request");
  }
  closing_ = true;
  if (const HttpExchange* open = open_body(); open != nullptr && !open->has_length) return close();
  if (line_.empty() && outgoing_.empty()) close();
}

/// No request is taken any more, but a body is going out: to somebody who is still there?
void HttpConnection::watch_for_leaving() {
  for (int i = 0; i < kReadsPerTurn && open_body() != nullptr && !eof_; ++i) {
    const ssize_t n = ::recv(fd_.get(), server_.read_buffer_.get(), kReadBytes, 0);
    if (n == 0) return end_of_input();
    if (n > 0 || errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return close();
    break;
  }
  if (open_body() != nullptr && !eof_) watch_->await_readable();
}

void HttpConnection::resume_reading() {
  if (!reads_requests() || takes_no_more()) return;
  const auto since = std::exchange(left_unread_since_, std::nullopt);
  if (since && parser_ && read_deadline_ != kNever) {  // it was us who were late
    const Duration late = server_.loop_.looked_at() - *since;
    body_begun_ += late;
    read_deadline_ += late;
  }
  if (!unparsed_.empty()) {
    const size_t parsed = parse(unparsed_);
    if (closed_) return;
    unparsed_.erase(0, parsed);
  }
  if (reads_requests() && !takes_no_more()) watch_->await_readable();
}

// ---- writing

void HttpConnection::refuse(int status, std::string_view code, std::string_view message) {
  if (closed_ || closing_) return;
  const auto exchange = std::make_shared<HttpExchange>();
  exchange->connection = this;
  exchange->to_head = parser_ && parser_->method() == "HEAD";
  exchange->keeps_alive = false;
  exchange->response = server_error(status, code, message);
  exchange->answered = true;
  parser_.reset();
  body_memory_ = {};
  std::string().swap(unparsed_);
  closing_ = true;
  read_deadline_ = kNever;
  line_.push_back(exchange);
  answered();
}

void HttpConnection::answered() {
  if (flush_deferred_ || closed_) return;
  flush_deferred_ = true;
  // Not from within the fiber that has answered; and answers of one turn go out together.
  server_.flush_later(this);
}

void HttpConnection::flush() {
  flush_deferred_ = false;
  if (closed_) return;
  std::string& bytes = server_.write_buffer_;
  bytes.clear();
  size_t answers = 0;
  while (answers < line_.size() && line_[answers]->answered && !close_when_written_) {
    if (!append_answer(bytes, *line_[answers])) break;
    leave_line(*line_[answers]);
    ++answers;
  }
  line_.erase(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(answers));
  write(bytes);
  if (!closed_) resume_reading();
}

bool HttpConnection::append_answer(std::string& bytes, HttpExchange& exchange) {
  using Body = HttpExchange::Body;
  if (exchange.body == Body::kOpen) return false;
  if (exchange.body != Body::kEnded) append_response(bytes, exchange);
  if (exchange.body == Body::kAwaited) {
    exchange.body = Body::kOpen;
    return false;
  }
  if (!exchange.keeps_alive) close_when_written_ = true;
  return true;
}

HttpExchange* HttpConnection::open_body() const {
  const bool open = !line_.empty() && line_.front()->body == HttpExchange::Body::kOpen;
  return open ? line_.front().get() : nullptr;
}

void HttpConnection::write_piece(const HttpExchange& exchange, std::string piece) {
  const std::string size =
      piece.empty() ? std::string("0\r\n") : fmt::format("{:x}\r\n", piece.size());
  if (exchange.chunked) outgoing_.push_back({size, nullptr});
  if (!piece.empty()) outgoing_.push_back({std::move(piece), nullptr});
  if (exchange.chunked) outgoing_.push_back({"\r\n", nullptr});
  answered();
}

void HttpConnection::abandoned(const HttpExchange& exchange) {
  if (exchange.body == HttpExchange::Body::kOpen && !exchange.has_length && !exchange.chunked) {
    // An orderly end would look like the body's.
    const linger at_once{1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  close();
}

/// To `bytes`; what is too large to be copied goes to `outgoing_`, with all that lies before it.
void HttpConnection::append_response(std::string& bytes, HttpExchange& exchange) {
  if (exchange.interim) {
    bytes += kContinue;
    return;
  }
  const ResponseFraming framing{exchange.to_head, exchange.is_1_1, exchange.keeps_alive,
                                server_.date_};
  append_response_head(bytes, exchange.response, framing);
  if (!exchange.response.source && has_body(exchange.response, framing)) {
    if (exchange.response.body.size() <= kCopiedBodyBytes) {
      bytes += exchange.response.body;
    } else {
      outgoing_.push_back({bytes, nullptr});
      outgoing_.push_back(
          {std::move(exchange.response.body), std::move(exchange.response.body_memory)});
      bytes.clear();
    }
  }
}

void HttpConnection::leave_line(HttpExchange& exchange) {
  exchange.connection = nullptr;
  if (exchange.sender != nullptr) exchange.sender->lost();
}

void HttpConnection::on_writable() {
  if (outgoing_.empty()) return;
  write_outgoing();
  if (!closed_) resume_reading();
}

void HttpConnection::write(std::string& bytes) {
  if (!outgoing_.empty()) {
    if (!bytes.empty()) outgoing_.push_back({bytes, nullptr});
    return write_outgoing();
  }
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t n = ::send(fd_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      outgoing_.push_back({bytes.substr(sent), nullptr});
      return could_not_write(error);
    }
    sent += static_cast<size_t>(n);
  }
  all_written();
}

void HttpConnection::write_outgoing() {
  while (!outgoing_.empty()) {
    std::array<iovec, kPiecesPerWrite> pieces;
    size_t count = 0;
    for (OutgoingPiece& piece : outgoing_) {
      if (count == pieces.size()) break;
      const size_t skip = count == 0 ? written_ : 0;
      pieces[count++] = {piece.bytes.data() + skip, piece.bytes.size() - skip};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = count;
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return could_not_write(errno);
    write_deadline_ = kNever;
    written_ += static_cast<size_t>(n);
    while (!outgoing_.empty() && written_ >= outgoing_.front().bytes.size()) {
      written_ -= outgoing_.front().bytes.size();
      outgoing_.pop_front();
    }
  }
  all_written();
}

void HttpConnection::could_not_write(int error) {
  if (error != EAGAIN && error != EWOULDBLOCK) return close();
  if (write_deadline_ == kNever) {
    write_deadline_ = server_.loop_.looked_at() + server_.config_.write_timeout;
  }
  watch_->await_writable();
}

void HttpConnection::all_written() {
  if (HttpExchange* open = open_body()) {
    if (eof_ && !open->has_length) return close();
    if (!reads_requests() && !eof_) watch_->await_readable();
    if (open->sender != nullptr) open->sender->drained();
    return;
  }
  if (close_when_written_) return begin_linger();
  if (closing_ && line_.empty()) return close();
  if (line_.empty() && !parser_) set_read_deadline(server_.config_.idle_timeout);
}

// ---- closing

void HttpConnection::begin_linger() {
  if (eof_ || lingering_) return close();
  // Closing with unread input would reset the connection, and the client might lose the answer.
  ::shutdown(fd_.get(), SHUT_WR);
  lingering_ = true;
  set_read_deadline(server_.config_.linger);
  watch_->await_readable();
}

void HttpConnection::throw_away_input() {
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t n = ::recv(fd_.get(), server_.read_buffer_.get(), kReadBytes, 0);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    return close();
  }
  watch_->await_readable();
}

void HttpConnection::check_deadlines(Time now) {
  if (closed_) return;
  if (now >= write_deadline_) return close();
  const bool waits_for_us =
      takes_no_more() || (!line_.empty() && !parser_) || (!outgoing_.empty() && !lingering_);
  if (now < read_deadline_ || waits_for_us) return;
  if (parser_) return refuse(408, "too_slow", "the request did not arrive in time");
  close();
}

void HttpConnection::close() {
  if (closed_) return;
  closed_ = true;
  body_memory_ = {};
  for (const auto& exchange : line_) leave_line(*exchange);
  line_.clear();
  outgoing_.clear();
  watch_.reset();
  fd_.reset();
  server_.bury(this);
}

}  // namespace morula
