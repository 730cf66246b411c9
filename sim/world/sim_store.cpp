#include "sim/world/sim_store.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"
#include "sim/world/sim_clock.hpp"

namespace morula::sim {

struct SimStore::Answer {
  std::optional<Error> error;
  StoredObject object;  // get; put fills the etag
  ObjectInfo info;      // head
  Listing listing;
};

struct SimStore::Request {
  StoreCall call = StoreCall::kGet;
  std::string key;  // list: the prefix
  Blob body;
  Precondition precondition;
  std::optional<ByteRange> range;
  std::vector<std::string> keys;  // remove_many
  std::string start_after;
  size_t limit = 0;
  Purpose purpose = Purpose::kOwnership;
  ProcessId process = 0;
  uint32_t life = 0;
  uint64_t number = 0;
  StoreFate fate;

  Answer answer;
  bool answered = false;
  WaitList waiter;
};

namespace {

const char* message_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kThrottled:
      return "simulated store: slow down";
    case ErrorCode::kConflict:
      return "simulated store: concurrent request, nothing done";
    case ErrorCode::kUnavailable:
      return "simulated store: internal error";
    case ErrorCode::kDenied:
      return "simulated store: permission denied";
    case ErrorCode::kFull:
      return "simulated store: no space left";
    default:
      return "simulated store: error";
  }
}

Etag make_etag(const std::string& body, bool is_content, uint64_t number) {
  char text[20];
  uint64_t value = is_content ? checksum(body) : number;
  auto end = std::to_chars(text, text + sizeof text, value, 16).ptr;
  return (is_content ? "c" : "n") + std::string(text, end);
}

Blob flip_a_bit(const std::string& body, Random& random) {
  std::string damaged = body;
  if (!damaged.empty()) {
    uint64_t bit = random.below(damaged.size() * 8);
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
  }
  return make_blob(std::move(damaged));
}

}  // namespace

SimStore::SimStore(EventQueue& events, SimTrace& trace, uint64_t seed)
    : events_(events), trace_(trace), random_(seed) {}

Blob SimStore::peek(std::string_view key) const {
  auto found = objects_.find(key);
  return found == objects_.end() ? nullptr : found->second.body;
}

std::vector<std::string> SimStore::keys(std::string_view prefix) const {
  std::vector<std::string> found;
  for (auto it = objects_.lower_bound(prefix); it != objects_.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    found.push_back(it->first);
  }
  return found;
}

std::map<std::string, uint64_t> SimStore::purposes() const {
  std::map<std::string, uint64_t> named;
  for (size_t i = 0; i < sent_by_purpose_.size(); ++i) {
    if (sent_by_purpose_[i] == 0) continue;
    named.emplace(to_string(static_cast<Purpose>(i)), sent_by_purpose_[i]);
  }
  return named;
}

void SimStore::plant(std::string_view key, std::string body) {
  Object object;
  object.etag = make_etag(body, manners_.etag_is_content, ++puts_);
  object.body = make_blob(std::move(body));
  object.written = events_.now();
  const Blob planted = object.body;
  objects_.insert_or_assign(std::string(key), std::move(object));
  for (Observer* observer : trace_.observers()) observer->on_store_changed({}, key, planted);
}

StoreRequest SimStore::seen(const Request& request) const {
  StoreRequest seen;
  seen.call = request.call;
  seen.key = request.call == StoreCall::kRemoveMany && !request.keys.empty() ? request.keys.front()
                                                                             : request.key;
  seen.purpose = request.purpose;
  const bool puts = request.call == StoreCall::kPut;
  seen.precondition = puts ? &request.precondition : nullptr;
  seen.body = puts ? &request.body : nullptr;
  seen.process = request.process;
  seen.life = request.life;
  seen.number = request.number;
  return seen;
}

void SimStore::send(const RequestRef& request, const Life& from) {
  request->process = from.process;
  request->life = from.number;
  request->number = ++sent_;
  ++sent_by_call_[static_cast<size_t>(request->call)];
  ++sent_by_purpose_[static_cast<size_t>(request->purpose)];
  StoreRequest view = seen(*request);
  if (fates_) request->fate = fates_(view);
  view.will_land = (request->fate.lands && !request->fate.refused) || request->fate.lands_again;
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kStoreSent) << 56 |
                    static_cast<uint64_t>(request->call) << 48 | request->process);
  trace_.hash().add(static_cast<uint64_t>(events_.now().time_since_epoch().count()));
  trace_.hash().add(view.key);
  for (Observer* observer : trace_.observers()) observer->on_store_sent(view);

  const StoreFate& fate = request->fate;
  EventQueue::GateId ears = from.ears;
  if (fate.lands) {
    events_.after(fate.to_store, EventQueue::kAlwaysOpen, [this, request, ears] {
      land(*request, /*is_copy=*/false);
      if (!request->fate.answered) return;
      events_.after(request->fate.to_caller, ears, [this, request] { answer(request); });
    });
  }
  if (fate.lands_again) {
    events_.after(fate.to_store + *fate.lands_again, EventQueue::kAlwaysOpen,
                  [this, request] { land(*request, /*is_copy=*/true); });
  }
}

void SimStore::land(Request& request, bool is_copy) {
  Answer answer;
  if (request.fate.refused && !is_copy) {
    ErrorCode code = *request.fate.refused;
    answer.error = Error{code, message_of(code), code == ErrorCode::kThrottled ? 100 : 0};
  } else {
    carry_out(request, answer);
    if (request.fate.spoiled && !is_copy) {
      answer.error = Error{*request.fate.spoiled, message_of(*request.fate.spoiled)};
    }
  }
  if (trace_.wants_detail()) tell(request, answer, is_copy);
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kStoreLanded) << 56 | request.number << 8 |
                    (answer.error ? static_cast<uint64_t>(answer.error->code) + 1 : 0));
  trace_.hash().add(static_cast<uint64_t>(events_.now().time_since_epoch().count()));
  if (!is_copy) request.answer = std::move(answer);
}

void SimStore::tell(const Request& request, const Answer& answer, bool is_copy) const {
  static constexpr const char* kCalls[] = {"get", "head", "put", "remove", "remove_many", "list"};
  const StoreRequest view = seen(request);
  std::string what = "store " + std::to_string(request.number) + " ";
  what.append(kCalls[static_cast<size_t>(request.call)]).append(" ").append(view.key);
  if (is_copy) what += " (a copy)";
  if (answer.error) what.append(": ").append(to_string(answer.error->code));
  if (request.call == StoreCall::kGet && answer.object.body) {
    what.append(", ").append(std::to_string(answer.object.body->size())).append(" bytes");
  }
  if (!is_copy && !request.fate.answered) what += ", nobody will hear";
  if (request.fate.flips_bit) what += ", a bit flipped";
  trace_.line(trace_.name_of(request.process), what);
}

void SimStore::carry_out(Request& request, Answer& answer) {
  switch (request.call) {
    case StoreCall::kGet:
    case StoreCall::kHead:
      return get(request, answer);
    case StoreCall::kPut:
      return put(request, answer);
    case StoreCall::kRemove:
      return remove(request, request.key);
    case StoreCall::kRemoveMany: {
      size_t count = request.fate.half ? request.keys.size() / 2 : request.keys.size();
      for (size_t i = 0; i < count; ++i) remove(request, request.keys[i]);
      return;
    }
    case StoreCall::kList:
      return list(request, answer);
  }
}

void SimStore::get(Request& request, Answer& answer) {
  auto found = objects_.find(request.key);
  if (found == objects_.end()) {
    answer.error = Error{ErrorCode::kNotFound, "no object " + request.key};
    return;
  }
  const Object& object = found->second;
  if (request.call == StoreCall::kHead) {
    answer.info = info(found->first, object);
    return;
  }
  answer.object.etag = object.etag;
  answer.object.body = object.body;
  if (request.range) {
    if (request.range->offset > 0 && request.range->offset >= object.body->size()) {
      answer.error = Error{ErrorCode::kInvalid, "range begins past the end of " + request.key};
      return;
    }
    answer.object.body =
        make_blob(object.body->substr(request.range->offset, request.range->length));
  }
  if (!request.fate.flips_bit) return;
  answer.object.body = flip_a_bit(*answer.object.body, random_);
  for (Observer* observer : trace_.observers()) observer->on_bit_flipped(seen(request));
}

std::optional<Error> SimStore::refuse(const Request& request, const Object* found) const {
  switch (request.precondition.kind) {
    case Precondition::Kind::kNone:
      break;
    case Precondition::Kind::kIfAbsent:
      if (found) return Error{ErrorCode::kPreconditionFailed, "exists: " + request.key};
      break;
    case Precondition::Kind::kIfMatch:
      if (!found) return Error{ErrorCode::kNotFound, "no object " + request.key};
      if (found->etag != request.precondition.etag) {
        return Error{ErrorCode::kPreconditionFailed, "has changed: " + request.key};
      }
      break;
  }
  return std::nullopt;
}

void SimStore::put(Request& request, Answer& answer) {
  const auto found = objects_.find(request.key);
  answer.error = refuse(request, found == objects_.end() ? nullptr : &found->second);
  if (answer.error) {
    const bool told = answer.error->code == ErrorCode::kPreconditionFailed &&
                      random_.chance(manners_.loser_error_percent, 100);
    if (told) answer.error = Error{ErrorCode::kUnavailable, message_of(ErrorCode::kUnavailable)};
    return;
  }
  Object object{request.body, make_etag(*request.body, manners_.etag_is_content, ++puts_),
                events_.now()};
  answer.object.etag = object.etag;
  objects_.insert_or_assign(request.key, std::move(object));
  for (Observer* observer : trace_.observers()) {
    observer->on_store_changed(seen(request), request.key, request.body);
  }
}

void SimStore::remove(Request& request, std::string_view key) {
  auto found = objects_.find(key);
  if (found == objects_.end()) return;
  objects_.erase(found);
  for (Observer* observer : trace_.observers()) {
    observer->on_store_changed(seen(request), key, nullptr);
  }
}

void SimStore::list(Request& request, Answer& answer) {
  size_t limit = std::min(request.limit, manners_.page_keys_max);
  bool from_start = request.start_after.empty() || request.start_after < request.key;
  auto it =
      from_start ? objects_.lower_bound(request.key) : objects_.upper_bound(request.start_after);
  for (; it != objects_.end() && it->first.starts_with(request.key); ++it) {
    if (answer.listing.objects.size() == limit) {
      answer.listing.truncated = true;
      return;
    }
    answer.listing.objects.push_back(info(it->first, it->second));
  }
}

ObjectInfo SimStore::info(const std::string& key, const Object& object) const {
  ObjectInfo told{key, object.body->size()};
  if (!manners_.lists_etags) return told;
  told.etag = object.etag;
  told.modified =
      WallTime{kWallAtTimeZero.ms + object.written.time_since_epoch().count() / 1'000'000};
  return told;
}

void SimStore::answer(const RequestRef& request) {
  trace_.hash().add(static_cast<uint64_t>(TraceKind::kStoreAnswered) << 56 | request->number);
  request->answered = true;
  request->waiter.wake_all();
}

SimStore::RequestRef SimStoreClient::make(StoreCall call, std::string_view key,
                                          const RequestOptions& options) {
  auto request = std::make_shared<SimStore::Request>();
  request->call = call;
  request->key = key;
  request->purpose = options.purpose;
  return request;
}

Result<> SimStoreClient::perform(const SimStore::RequestRef& request,
                                 const RequestOptions& options) {
  if (life_.over) throw Cancelled{};
  store_.send(request, life_);
  Time deadline = std::min(options.deadline, clock_.now() + store_.manners_.patience);
  while (!request->answered) {
    if (!request->waiter.wait_until(clock_, deadline) && !request->answered) {
      return fail(ErrorCode::kTimeout, "simulated store: no answer in time");
    }
  }
  if (request->answer.error) return fail(*request->answer.error);
  return {};
}

Result<StoredObject> SimStoreClient::get(std::string_view key, std::optional<ByteRange> range,
                                         const RequestOptions& options) {
  auto request = make(StoreCall::kGet, key, options);
  request->range = range;
  MORULA_TRY(perform(request, options));
  return std::move(request->answer.object);
}

Result<ObjectInfo> SimStoreClient::head(std::string_view key, const RequestOptions& options) {
  auto request = make(StoreCall::kHead, key, options);
  MORULA_TRY(perform(request, options));
  return std::move(request->answer.info);
}

Result<Etag> SimStoreClient::put(std::string_view key, Blob body, const Precondition& precondition,
                                 const RequestOptions& options) {
  MORULA_CHECK(body != nullptr);
  auto request = make(StoreCall::kPut, key, options);
  request->body = std::move(body);
  request->precondition = precondition;
  MORULA_TRY(perform(request, options));
  return std::move(request->answer.object.etag);
}

Result<> SimStoreClient::remove(std::string_view key, const RequestOptions& options) {
  return perform(make(StoreCall::kRemove, key, options), options);
}

Result<> SimStoreClient::remove_many(std::span<const std::string> keys,
                                     const RequestOptions& options) {
  MORULA_CHECK(keys.size() <= 1000);
  if (!store_.manners_.abilities.batch_remove) {
    return fail(ErrorCode::kUnsupported, "simulated store: no batch delete");
  }
  auto request = make(StoreCall::kRemoveMany, "", options);
  request->keys.assign(keys.begin(), keys.end());
  return perform(request, options);
}

Result<Listing> SimStoreClient::list(std::string_view prefix, std::string_view start_after,
                                     size_t limit, const RequestOptions& options) {
  MORULA_CHECK(limit > 0 && limit <= 1000);
  auto request = make(StoreCall::kList, prefix, options);
  request->start_after = start_after;
  request->limit = limit;
  MORULA_TRY(perform(request, options));
  return std::move(request->answer.listing);
}

}  // namespace morula::sim
