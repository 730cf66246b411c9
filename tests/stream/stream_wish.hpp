// What the clients of the model test want: drawn by RapidCheck, which shrinks it when a run fails.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/stream/stream_model.hpp"

namespace morula {

constexpr size_t kStreams = 3;
inline const WallTime kWallStart{1'800'000'000'000};

/// One request of a client's script, before it is known what the client has seen.
struct Wish {
  uint64_t kind = 0;
  size_t stream = 0;
  uint64_t type = 0;
  uint64_t body = 0;
  uint64_t producer = 0;
  uint64_t epoch = 0;
  uint64_t seq = 0;
  uint64_t condition = 0;
  uint64_t from = 0;
  uint64_t expiry = 0;
  bool cancel = false;
};

inline std::ostream& operator<<(std::ostream& out, const Wish& wish) {
  return out << "{kind " << wish.kind << " stream " << wish.stream << " type " << wish.type
             << " body " << wish.body << " producer " << wish.producer << "/" << wish.epoch << "/"
             << wish.seq << " condition " << wish.condition << " from " << wish.from << " expiry "
             << wish.expiry << (wish.cancel ? " cancel}" : "}");
}

inline rc::Gen<Wish> any_wish() {
  const auto below = [](uint64_t bound) { return rc::gen::inRange<uint64_t>(0, bound); };
  return rc::gen::build<Wish>(
      rc::gen::set(&Wish::kind, below(12)), rc::gen::set(&Wish::stream, below(kStreams)),
      rc::gen::set(&Wish::type, below(8)), rc::gen::set(&Wish::body, below(10)),
      rc::gen::set(&Wish::producer, below(4)), rc::gen::set(&Wish::epoch, below(2)),
      rc::gen::set(&Wish::seq, below(4)), rc::gen::set(&Wish::condition, below(8)),
      rc::gen::set(&Wish::from, below(8)), rc::gen::set(&Wish::expiry, below(6)),
      rc::gen::set(&Wish::cancel, rc::gen::map(below(8), [](uint64_t n) { return n == 0; })));
}

/// The request of that wish: `seen` is the tail that the client knows of, `number` makes its
/// content its own.
inline ModelRequest request_of(const Wish& wish, Offset seen, size_t number) {
  using Kind = ModelRequest::Kind;
  constexpr Kind kKinds[] = {Kind::kAppend, Kind::kAppend, Kind::kAppend, Kind::kAppend,
                             Kind::kAppend, Kind::kAppend, Kind::kCreate, Kind::kCreate,
                             Kind::kRead,   Kind::kRead,   Kind::kHead,   Kind::kRemove};
  ModelRequest request;
  request.kind = kKinds[wish.kind];
  request.stream = {{0, wish.stream}, 77};
  // Stream 0 mostly holds text, stream 1 mostly JSON, stream 2 a type that has no code.
  constexpr const char* kTypes[] = {"text/plain", "application/json", "image/png"};
  request.content_type = kTypes[wish.type == 7 ? (wish.stream + 1) % kStreams : wish.stream];
  if (wish.expiry < 2 && wish.stream == 2) {
    request.expiry.kind = Expiry::Kind::kAt;
    request.expiry.at.ms = kWallStart.ms + 10 + 20 * static_cast<int64_t>(wish.expiry);
  }
  const std::string name = std::to_string(number);
  const auto has_body = [&](std::string body,
                            std::optional<std::vector<std::string>> json_messages) {
    request.body = std::move(body);
    request.json_messages = std::move(json_messages);
  };
  if (wish.body < 5) has_body("{\"n\": " + name + "}", {{"{\"n\": " + name + "}"}});
  if (wish.body == 5) has_body(" [" + name + " ,[" + name + "]]", {{name, "[" + name + "]"}});
  if (wish.body == 6) has_body("[]", std::vector<std::string>{});
  if (wish.body == 7) has_body("{" + name, std::nullopt);
  if (wish.body == 8) has_body("", std::nullopt);
  if (wish.body == 9)
    has_body("\"" + std::string(50, 'x') + name + "\"",
             {{"\"" + std::string(50, 'x') + name + "\""}});
  if (wish.producer > 1) {
    request.producer = ProducerClaim{wish.producer == 2 ? "p" : "q", wish.epoch, wish.seq};
  }
  if (wish.condition == 0) request.expected_offset = seen;
  if (wish.condition == 1) request.sequence = name;
  if (wish.from < 4) request.from = ReadRequest::From::kOffset;
  if (wish.from == 4) request.from = ReadRequest::From::kTail;
  request.offset = wish.from == 3 ? Offset{wish.seq, 9 * wish.seq} : seen;
  return request;
}

}  // namespace morula
