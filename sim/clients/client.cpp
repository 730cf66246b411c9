#include "sim/clients/client.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/check.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/fiber.hpp"
#include "core/rt/network.hpp"
#include "core/rt/trace.hpp"
#include "sim/clients/lifetime.hpp"

namespace morula::sim {

namespace {

using invariants::KnownOffset;
using invariants::OpKind;
using invariants::Outcome;
using invariants::Request;

constexpr size_t kOffsetsKept = 8;
constexpr int kChunksMax = 6;  // of one read that goes on
constexpr int kSettleAttempts = 20;

uint32_t drawn_weight(Random& random, uint32_t usual) {
  constexpr uint32_t kFactors[] = {0, 1, 1, 1, 3};
  return usual * kFactors[random.below(std::size(kFactors))];
}

}  // namespace

ClientHabits ClientHabits::draw(Random& random, Duration pause, bool deletes) {
  ClientHabits habits;
  habits.creates = std::max(1U, drawn_weight(random, habits.creates));
  habits.appends = drawn_weight(random, habits.appends);
  habits.produces = std::max(1U, drawn_weight(random, habits.produces));
  habits.conditional_appends = drawn_weight(random, habits.conditional_appends);
  habits.reads = drawn_weight(random, habits.reads);
  habits.heads = drawn_weight(random, habits.heads);
  habits.deletes = random.chance(1, 2) ? 0 : drawn_weight(random, habits.deletes);
  if (deletes) habits.deletes = 1 + drawn_weight(random, 8);
  habits.lists = drawn_weight(random, habits.lists);
  habits.pause = pause;
  constexpr int64_t kTimeoutMs[] = {500, 2000, 5000, 15'000};
  habits.timeout = std::chrono::milliseconds(kTimeoutMs[random.below(std::size(kTimeoutMs))]);
  constexpr uint64_t kBytes[] = {100, 200, 400, 2000};
  habits.message_bytes_max = kBytes[random.below(std::size(kBytes))];
  habits.batch_max = static_cast<uint32_t>(random.between(1, 5));
  habits.follows_redirects = random.chance(1, 5);
  habits.numbers_appends = random.chance(1, 4);
  return habits;
}

Client::Client(uint32_t number, std::vector<std::string> addresses, std::vector<std::string> paths,
               const ClientHabits& habits, invariants::Observer& observer)
    : number_(number),
      addresses_(std::move(addresses)),
      habits_(habits),
      observer_(observer),
      server_(addresses_.front()) {
  for (std::string& path : paths) {
    Stream& stream = streams_.emplace_back();
    stream.path = std::move(path);
  }
}

void Client::run(const Env& env, const std::function<bool()>& active) {
  server_ = addresses_[env.random.below(addresses_.size())];
  for (Stream& stream : streams_) stream.type = static_cast<StreamType>(env.random.below(3));
  while (active()) {
    // Bursts: a third of the time no pause at all.
    if (!env.random.chance(1, 3)) {
      auto most = static_cast<uint64_t>(habits_.pause.count()) * 3;
      env.clock.sleep(Duration(env.random.below(most)));
    }
    do_something(env);
  }
  for (Stream& stream : streams_) {
    for (int i = 0; i < kSettleAttempts && stream.unsettled; ++i) produce(env, stream);
  }
  done_ = true;
}

void Client::do_something(const Env& env) {
  Stream& stream = streams_[env.random.below(streams_.size())];
  if (stream.absent && env.random.chance(1, 2)) return create(env, stream);
  const std::array<uint32_t, 8> weights = {
      habits_.creates, habits_.appends, habits_.produces, habits_.conditional_appends,
      habits_.reads,   habits_.heads,   habits_.deletes,  habits_.lists};
  uint64_t sum = 0;
  for (uint32_t weight : weights) sum += weight;
  uint64_t drawn = env.random.below(sum);
  size_t choice = 0;
  while (drawn >= weights[choice]) drawn -= weights[choice++];
  switch (choice) {
    case 0:
      return create(env, stream);
    case 1:
      return append(env, stream, false);
    case 2:
      return produce(env, stream);
    case 3:
      return append(env, stream, true);
    case 4:
      return read(env, stream);
    case 5:
      return head(env, stream);
    case 6:
      return remove(env, stream);
    default:
      return list_something(env, stream);
  }
}

void Client::fill(const Env& env, Request& request, StreamType type) {
  request.framing = framing(type);
  request.messages = 1;
  if (type == StreamType::kJson) {
    request.messages = static_cast<uint32_t>(env.random.between(1, habits_.batch_max));
  }
  request.message_bytes =
      env.random.between(invariants::kMessageBytesMin,
                         std::max(habits_.message_bytes_max, invariants::kMessageBytesMin));
  if (env.random.chance(1, 100)) request.message_bytes *= 20;
}

void Client::create(const Env& env, Stream& stream) {
  Request request;
  request.kind = OpKind::kCreate;
  StreamType type = stream.type;
  if (env.random.chance(1, 5)) type = static_cast<StreamType>(env.random.below(3));
  if (env.random.below(10) < habits_.sends_content_first) fill(env, request, type);
  set_lifetime(stream.path, env.clock.wall(), request);
  ask(env, stream, request, type);
}

void Client::append(const Env& env, Stream& stream, bool conditional) {
  Request request;
  request.kind = OpKind::kAppend;
  if (conditional && stream.tail) request.expected = *stream.tail;
  if (habits_.numbers_appends) request.sequence = draw_sequence(env);
  fill(env, request, stream.type);
  Answer answer = ask(env, stream, request, stream.type);
  // A plain client that got no answer sends the same thing anew, and may double it.
  if (answer.response.outcome == Outcome::kUnknown && env.random.chance(1, 2)) {
    Request again = request;
    again.record = {};
    ask(env, stream, again, stream.type);
  }
}

/// About the time, so that those of all clients grow; now and then too low.
std::string Client::draw_sequence(const Env& env) const {
  Duration time = env.clock.now().time_since_epoch();
  if (env.random.chance(1, 4)) time -= std::chrono::milliseconds(env.random.below(2000));
  std::string digits = std::to_string(time.count() / 1000);
  digits.insert(0, 20 - digits.size(), '0');
  return digits + "-" + std::to_string(number_);
}

std::string Client::producer_id(const Stream& stream) const {
  return "writer-" + std::to_string(number_) + "-of-" + stream.path;
}

void Client::produce(const Env& env, Stream& stream) {
  if (!stream.unsettled) {
    Unsettled& fresh = stream.unsettled.emplace();
    fresh.type = stream.type;
    fresh.request.kind = OpKind::kAppend;
    fresh.request.producer = {producer_id(stream), stream.epoch, stream.seq};
    fill(env, fresh.request, fresh.type);
  }
  Answer answer = ask(env, stream, stream.unsettled->request, stream.unsettled->type);
  switch (answer.response.outcome) {
    case Outcome::kOk:
      ++stream.seq;
      stream.unsettled.reset();
      return;
    case Outcome::kAbsent:
      return drop_unsettled(stream);
    case Outcome::kRefused:
      if (answer.response.status >= 400 && answer.response.status < 429) drop_unsettled(stream);
      return;
    case Outcome::kPending:
    case Outcome::kUnknown:
      return;  // again, later
  }
}

/// The stream isn't the one it was sent to any more. An earlier attempt may still have its effect,
/// so its number is not used for anything else.
void Client::drop_unsettled(Stream& stream) {
  stream.unsettled.reset();
  ++stream.epoch;
  stream.seq = 0;
}

void Client::read(const Env& env, Stream& stream) {
  Request request;
  request.kind = OpKind::kRead;
  uint64_t how = env.random.below(10);
  if (how >= 9) {
    request.at_tail = true;
  } else if (how >= 3 && !stream.offsets.empty()) {
    request.from = stream.offsets[env.random.below(stream.offsets.size())];
  }
  if (!stream.cache.empty() && env.random.chance(1, 5)) {
    request.at_tail = false;
    request.from = stream.cache.from();
    ask(env, stream, request, stream.type, true);
    return;
  }
  for (int chunk = 0; chunk < kChunksMax; ++chunk) {
    Answer answer = ask(env, stream, request, stream.type);
    if (answer.response.outcome != Outcome::kOk || answer.response.up_to_date || request.at_tail ||
        !answer.response.next) {
      return;
    }
    request.from = KnownOffset{*answer.response.next, answer.response.generation};
  }
}

void Client::read_to_end(const Env& env, Stream& stream) {
  Request request;
  request.kind = OpKind::kRead;
  request.final = true;
  for (;;) {
    Answer answer = ask(env, stream, request, stream.type);
    if (answer.response.outcome == Outcome::kAbsent) return;
    if (answer.response.outcome != Outcome::kOk) {
      if (answer.response.bad_offset) request.from.reset();
      env.clock.sleep(std::chrono::milliseconds(100));
      continue;
    }
    if (answer.response.up_to_date || !answer.response.next) return;
    request.from = KnownOffset{*answer.response.next, answer.response.generation};
  }
}

void Client::read_all(const Env& env) {
  with_scope(env.domain, [&](Scope& scope) {
    for (Stream& stream : streams_) {
      scope.spawn("reader", [this, &env, &stream] { read_to_end(env, stream); });
    }
    scope.join();
  });
  list_all(env);
  done_ = true;
}

void Client::head(const Env& env, Stream& stream) {
  Request request;
  request.kind = OpKind::kHead;
  ask(env, stream, request, stream.type);
}

void Client::remove(const Env& env, Stream& stream) {
  Request request;
  request.kind = OpKind::kDelete;
  ask(env, stream, request, stream.type);
}

Answer Client::ask(const Env& env, Stream& stream, Request& request, StreamType type, bool cached) {
  request.client = number_;
  request.number = ++next_operation_;
  request.path = stream.path;
  request.server = server_;
  if (request.messages > 0 && request.record.number == 0) {
    request.record = {number_, request.number};
  }
  HttpRequest http = http_request(request, type);
  if (habits_.follows_redirects) http.headers.add("Streams-Pin", "redirect");
  if (cached) http.headers.add("If-None-Match", stream.cache.etag());
  invariants::OpRef op = observer_.begin(request);
  auto result = env.network.call(server_, http, env.clock.now() + habits_.timeout);
  if (cached && result) {
    env.trace.sometimes("a cached read was still right", result->status == 304);
    env.trace.sometimes("a cached read was right no more", result->status == 200);
    stream.cache.complete(*result);
  }
  if (request.kind == OpKind::kRead && result) stream.cache.remember(request, *result);
  Answer answer = understand(request, result);
  observer_.end(op, answer.response);
  if (tell_) tell_(request.path + " " + observer_.history().describe(op));
  if (!answer.unexpected.empty()) observer_.unexpected(op, answer.unexpected);
  ++operations_;
  answer.response.body = {};  // `result` ends here
  mark_places(env, stream, request, answer.response);
  learn(env, stream, request, answer);
  heed(env, answer);
  return answer;
}

void Client::mark_places(const Env& env, const Stream& stream, const Request& request,
                         const invariants::Response& response) const {
  const bool ok = response.outcome == Outcome::kOk;
  const bool unknown = response.outcome == Outcome::kUnknown;
  const bool retry = request.producer && request.record.number != request.number;
  Trace& trace = env.trace;
  trace.sometimes("a producer's retry was a duplicate", ok && retry && response.duplicate);
  trace.sometimes("a producer's retry was the first to arrive", ok && retry && !response.duplicate);
  trace.sometimes("a producer met a stream that was created anew",
                  response.code == "sequence_gap" || response.code == "epoch_not_at_zero");
  trace.sometimes("an append came with too low a Stream-Seq",
                  response.code == "sequence_regression");
  trace.sometimes("a client saw a stream with a deadline gone",
                  response.outcome == Outcome::kAbsent && is_mortal(stream.path) && stream.tail);
  trace.sometimes("an append at an expected offset was done", ok && request.expected.has_value());
  trace.sometimes("an append at an expected offset came too late", response.offset_mismatch);
  trace.sometimes(
      "a client asked for an offset of another generation",
      request.from && response.generation && request.from->generation != response.generation);
  trace.sometimes("a client asked for an offset that is none any more", response.bad_offset);
  trace.sometimes("a read was cut into chunks",
                  ok && request.kind == OpKind::kRead && !response.up_to_date && !request.at_tail);
  trace.sometimes("a create had no certain outcome", unknown && request.kind == OpKind::kCreate);
  trace.sometimes("a delete had no certain outcome", unknown && request.kind == OpKind::kDelete);
  trace.sometimes("a deleted stream was created again",
                  ok && request.kind == OpKind::kCreate && !response.existed && stream.tail);
}

void Client::learn(const Env& env, Stream& stream, const Request& request, const Answer& answer) {
  const invariants::Response& response = answer.response;
  if (answer.type) stream.type = *answer.type;
  if (response.outcome == Outcome::kAbsent) stream.absent = true;
  if (response.code == "content_type_mismatch" || response.code == "stream_exists") {
    stream.type = static_cast<StreamType>((static_cast<int>(stream.type) + 1) % 3);
  }
  if (response.outcome != Outcome::kOk) {
    if (response.offset_mismatch && response.next) stream.tail = KnownOffset{*response.next, {}};
    return;
  }
  stream.absent = request.kind == OpKind::kDelete;
  if (!response.next) return;
  KnownOffset known{*response.next, response.generation};
  bool is_tail = request.kind != OpKind::kRead || response.up_to_date;
  if (is_tail) stream.tail = known;
  keep_offset(env, stream, known);
  // Between two messages of one append there is an offset as well.
  bool appended = request.kind == OpKind::kAppend && !response.duplicate;
  if (appended && request.messages > 1 && env.random.chance(1, 4)) {
    const uint64_t back = env.random.between(1, request.messages - 1);
    known.offset.messages -= back;
    known.offset.bytes -= back * request.message_bytes;
    keep_offset(env, stream, known);
  }
}

void Client::keep_offset(const Env& env, Stream& stream, const KnownOffset& offset) {
  if (stream.offsets.size() < kOffsetsKept) {
    stream.offsets.push_back(offset);
  } else {
    stream.offsets[env.random.below(kOffsetsKept)] = offset;
  }
}

void Client::heed(const Env& env, const Answer& answer) {
  if (!answer.redirected_to.empty()) {
    server_ = answer.redirected_to;
    return;
  }
  const invariants::Response& response = answer.response;
  bool served = response.outcome == Outcome::kOk || response.outcome == Outcome::kAbsent ||
                (response.status >= 400 && response.status < 429);
  if (served) {
    // Load balancers send clients anywhere.
    if (env.random.chance(1, 20)) server_ = addresses_[env.random.below(addresses_.size())];
    return;
  }
  if (env.random.chance(3, 4)) server_ = addresses_[env.random.below(addresses_.size())];
  if (answer.retry_after) {
    auto most = static_cast<uint64_t>(answer.retry_after->count());
    env.clock.sleep(Duration(most / 2 + env.random.below(most / 2 + 1)));
  } else {
    env.clock.sleep(std::chrono::milliseconds(env.random.between(10, 200)));
  }
}

}  // namespace morula::sim
