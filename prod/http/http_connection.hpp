// One client of an HttpServer.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "prod/http/http_response.hpp"
#include "prod/http/http_server.hpp"

namespace morula {

class HttpBody;

/// A request and its answer. The connection has it in its line until the answer goes out; the
/// fiber that works on it shares it, and may outlive the connection.
struct HttpExchange {
  HttpConnection* connection;  // null once that is closed
  bool to_head = false;
  bool keeps_alive = true;
  bool answered = false;
  bool interim = false;  // a "100 Continue", not an answer
  bool is_1_1 = true;
  HttpResponse response;

  // Of an answer whose body comes in pieces.
  enum class Body : uint8_t {
    kNone,     // the body is in the response, or there is none
    kAwaited,  // its head is not written yet
    kOpen,     // pieces follow each other
    kEnded,    // the last is on its way
  } body = Body::kNone;
  bool has_length = false;
  bool chunked = false;
  HttpBody* sender = nullptr;  // while the request's fiber sends it
};

/// What is to be written, and the memory that is reserved for it.
struct OutgoingPiece {
  std::string bytes;
  std::shared_ptr<MemoryReservation> memory;
};

/// Read side: idle -> head -> body -> (dispatched) -> idle, or -> closing (no request is read any
/// more) -> lingering (all is written; what still comes is thrown away) -> closed.
class HttpConnection final : private FdEvents {
 public:
  HttpConnection(HttpServer& server, UniqueFd fd);
  ~HttpConnection() override;

  /// Begins to read.
  void start();
  /// Begins with the end: answers with an error, and closes.
  void refuse(int status, std::string_view code, std::string_view message);
  /// An exchange has its answer.
  void answered();
  /// Its fiber was cancelled, or its body cut: the client gets no answer, or no whole one.
  void abandoned(const HttpExchange& exchange);
  /// Writes what has been answered. Called by the server, at the end of a turn.
  void flush();
  void check_deadlines(Time now);
  bool closed() const { return closed_; }

  /// The exchange's body is what comes next, and all that lies before it is written.
  bool takes_piece(const HttpExchange& exchange) const {
    return exchange.body == HttpExchange::Body::kOpen && outgoing_.empty();
  }
  /// Of a body that takes one; empty: the end.
  void write_piece(const HttpExchange& exchange, std::string piece);

 private:
  void on_readable() override;
  void on_writable() override;

  bool reads_requests() const { return !closed_ && !closing_ && !eof_; }
  /// No request is taken now: enough are under way, or the client doesn't take its answers.
  bool takes_no_more() const;
  void read_some();
  void take(std::string_view bytes);
  size_t parse(std::string_view bytes);
  void head_arrived();
  void body_grew();
  void refuse_body(const Error& error);
  void dispatch();
  void run_handler(const std::shared_ptr<HttpExchange>& exchange, HttpRequest request);
  void end_of_input();
  void resume_reading();

  void append_response(std::string& bytes, HttpExchange& exchange);
  void write(std::string& bytes);
  void write_outgoing();
  void could_not_write(int error);
  void all_written();
  void leave_line(HttpExchange& exchange);
  /// To `bytes`; false: the exchange stays in the line, more of its body follows.
  bool append_answer(std::string& bytes, HttpExchange& exchange);
  /// Null, or the front of the line, whose body in pieces is going out.
  HttpExchange* open_body() const;
  void watch_for_leaving();

  void begin_linger();
  void throw_away_input();
  void set_read_deadline(Duration after);
  void close();

  HttpServer& server_;
  UniqueFd fd_;
  std::unique_ptr<FdWatch> watch_;
  std::string unparsed_;
  std::unique_ptr<HttpParser> parser_;  // of the request that is arriving
  MemoryReservation own_memory_;
  MemoryReservation body_memory_;  // of the request that is arriving
  Time body_begun_{};
  std::optional<Time> left_unread_since_;  // there was more, which we didn't take
  bool head_seen_ = false;
  std::vector<std::shared_ptr<HttpExchange>> line_;
  std::list<OutgoingPiece> outgoing_;  // what the client was too slow for, and large bodies
  size_t written_ = 0;                 // of outgoing's first
  Time read_deadline_ = kNever;
  Time write_deadline_ = kNever;
  bool flush_deferred_ = false;
  bool eof_ = false;
  bool closing_ = false;
  bool close_when_written_ = false;
  bool lingering_ = false;
  bool closed_ = false;
};

}  // namespace morula
