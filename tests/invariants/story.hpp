// Tells a history of one stream, step by step, to the checker of invariants 1 to 3.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invariants/stream_history.hpp"

namespace morula::invariants {

/// Every message of a story has this length.
inline constexpr uint64_t kStoryBytes = 100;

inline Offset offset_of(uint64_t messages) {
  return {messages, messages * kStoryBytes};
}

class Story {
 public:
  OpRef begin(Request request) {
    request.path = "s";
    now_ += std::chrono::milliseconds(1);
    if (request.messages > 0 && request.message_bytes == 0) request.message_bytes = kStoryBytes;
    look_at_walls();
    OpRef ref = history_.begin(std::move(request), now_);
    stream_.begin(ref);
    return ref;
  }
  void end(OpRef ref, Response response) {
    now_ += std::chrono::milliseconds(1);
    look_at_walls();
    history_.end(ref, response, now_);
    stream_.end(ref);
  }
  /// From now on there are wall clocks, which go with the story's time. `apart`: the fastest and
  /// the slowest.
  void begin_wall_clocks(Duration apart = {}) {
    apart_ms_ = apart.count() / 1'000'000;
    wall_ms_ = 0;
  }
  void pass(Duration time) { now_ += time; }
  void set_walls(int64_t ms_forward) {
    look_at_walls();
    wall_ms_ = *wall_ms_ + ms_forward;
    look_at_walls();
  }
  /// What the slowest shows.
  WallTime wall() const { return {*wall_ms_ + now_.count() / 1'000'000}; }
  /// A request that is answered before anything else happens.
  void tell(Request request, const Response& response) { end(begin(std::move(request)), response); }
  const Violations& finish() {
    stream_.finish(now_);
    return violations_;
  }
  const Violations& so_far() const { return violations_; }

  // ---- requests ----

  static Request request(OpKind kind, uint32_t client, uint32_t number) {
    Request out;
    out.client = client;
    out.number = number;
    out.kind = kind;
    return out;
  }
  static Request create(uint32_t client, uint32_t number) {
    return request(OpKind::kCreate, client, number);
  }
  static Request append(uint32_t client, uint32_t number, uint32_t messages = 1) {
    Request out = request(OpKind::kAppend, client, number);
    out.record = {client, number};
    out.messages = messages;
    return out;
  }
  static Request read(uint32_t client, uint32_t number) {
    return request(OpKind::kRead, client, number);
  }
  static Request head(uint32_t client, uint32_t number) {
    return request(OpKind::kHead, client, number);
  }
  static Request remove(uint32_t client, uint32_t number) {
    return request(OpKind::kDelete, client, number);
  }

  // ---- responses ----

  /// Done, or the tail that was shown.
  static Response ok(uint64_t generation, uint64_t next) {
    Response out = response(Outcome::kOk, 200);
    out.generation = generation;
    out.next = offset_of(next);
    return out;
  }
  static Response response(Outcome outcome, int status) {
    Response out;
    out.outcome = outcome;
    out.status = status;
    return out;
  }
  static Response unknown() { return response(Outcome::kUnknown, 0); }
  static Response absent() { return response(Outcome::kAbsent, 404); }
  static Response refused(int status) { return response(Outcome::kRefused, status); }

  /// A read's answer: these records, one message each, which reach the tail.
  Response shows(uint64_t generation, uint64_t next, const std::vector<RecordId>& records) {
    std::vector<Message> messages;
    for (RecordId record : records) messages.push_back({record, 0, 1, kStoryBytes});
    return shows(generation, next, messages);
  }
  Response shows(uint64_t generation, uint64_t next, const std::vector<Message>& messages) {
    body_.clear();
    for (const Message& message : messages) body_ += message_text(message, Framing::kBytes);
    Response out = ok(generation, next);
    out.up_to_date = true;
    out.body = body_;
    return out;
  }

  static inline const std::vector<RecordId> kNothing;

  // ---- whole operations ----

  void created(uint32_t client, uint32_t number, uint64_t generation) {
    tell(create(client, number), ok(generation, 0));
  }
  void appended(uint32_t client, uint32_t number, uint64_t generation, uint64_t next) {
    tell(append(client, number), ok(generation, next));
  }
  void read_shows(uint32_t client, uint32_t number, uint64_t generation,
                  const std::vector<RecordId>& records) {
    tell(read(client, number), shows(generation, records.size(), records));
  }

 private:
  void look_at_walls() {
    if (wall_ms_) walls_.read(now_, {wall(), WallTime{wall().ms + apart_ms_}});
  }

  History history_;
  Violations violations_;
  WallClocks walls_;
  StreamHistory stream_{history_, walls_, "s", violations_};
  Duration now_{};
  std::optional<int64_t> wall_ms_;  // what they show at the story's beginning
  int64_t apart_ms_ = 0;
  std::string body_;
};

/// The first violation must be of `invariant` and say all of `words`.
inline std::string mismatch(const Violations& violations, Invariant invariant,
                            const std::vector<std::string>& words) {
  if (violations.empty()) return "nothing was found wrong";
  const Violation& first = violations.kept().front();
  if (first.invariant != invariant) return "another invariant broke: " + to_string(first);
  for (const std::string& word : words) {
    if (first.message.find(word) == std::string::npos) {
      return "\"" + word + "\" is not in: " + to_string(first);
    }
  }
  return "";
}

}  // namespace morula::invariants
