// A body in pieces on its way to a client: the request's fiber pulls a piece from the source, and
// the next once the connection has written that one.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/rt/fiber.hpp"
#include "prod/http/http_connection.hpp"

namespace morula {

class HttpBody {
 public:
  /// Of `exchange`, which outlives it, has a connection, and an answer with a source. Takes the
  /// source.
  explicit HttpBody(HttpExchange& exchange);
  ~HttpBody() { exchange_.sender = nullptr; }
  HttpBody(const HttpBody&) = delete;
  HttpBody& operator=(const HttpBody&) = delete;

  /// Until the body has ended one way or the other. True: it was whole. Suspends; throws Cancelled.
  bool send();

  // By the connection, outside fibers or inside:
  /// All that was written so far has been taken.
  void drained() { room_.wake_all(); }
  /// The connection is closed.
  void lost() {
    if (pulling_ != nullptr) pulling_->cancel();
  }

 private:
  void pull();
  /// False: nobody takes it any more.
  bool await_room();

  HttpExchange& exchange_;
  std::shared_ptr<BodySource> source_;
  const std::optional<uint64_t> length_;
  uint64_t written_ = 0;  // bytes of the body
  Scope* pulling_ = nullptr;
  WaitList room_;
};

}  // namespace morula
