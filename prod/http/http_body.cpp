#include "prod/http/http_body.hpp"

#include <fmt/format.h>

#include <utility>

namespace morula {

HttpBody::HttpBody(HttpExchange& exchange)
    : exchange_(exchange), source_(exchange.response.source), length_(source_->length()) {
  exchange_.body = HttpExchange::Body::kAwaited;
  exchange_.has_length = length_.has_value();
  exchange_.chunked = !length_ && exchange_.is_1_1;
  // Without either, the body ends with the connection.
  if (!exchange_.has_length && !exchange_.chunked) exchange_.keeps_alive = false;
  exchange_.sender = this;
}

bool HttpBody::send() {
  // The client may go away while the source is waited for.
  with_scope(Domain::current(), [&](Scope& scope) {
    struct AtEnd {
      HttpBody& body;
      ~AtEnd() { body.pulling_ = nullptr; }
    } const at_end{*this};
    pulling_ = &scope;
    scope.spawn("body", [this] { pull(); });
    scope.join();
  });
  return exchange_.body == HttpExchange::Body::kEnded;
}

bool HttpBody::await_room() {
  while (exchange_.connection != nullptr && !exchange_.connection->takes_piece(exchange_)) {
    room_.wait();
  }
  return exchange_.connection != nullptr;
}

void HttpBody::pull() {
  while (await_room()) {
    auto piece = source_->next();
    if (!piece || exchange_.connection == nullptr) return;
    written_ += piece->size();
    if (length_ && (piece->empty() ? written_ != *length_ : written_ > *length_)) return;
    const bool last = piece->empty();
    if (last) exchange_.body = HttpExchange::Body::kEnded;
    exchange_.connection->write_piece(exchange_, std::move(*piece));
    if (last) return;
  }
}

}  // namespace morula
