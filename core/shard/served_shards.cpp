#include "core/shard/served_shards.hpp"

#include <algorithm>
#include <utility>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"
#include "core/rt/trace.hpp"

namespace morula {

namespace {

/// Shards that one read asks: it is not followed any further through splits and merges.
constexpr int kAsksMax = 8;

tl::unexpected<Error> moved() {
  return fail(ErrorCode::kMoved, "its shard is not served here");
}

/// What a shard may say because it was replaced, or is another's.
bool may_be_outdated(ErrorCode code) {
  return code == ErrorCode::kNotFound || code == ErrorCode::kCorrupt || code == ErrorCode::kMoved ||
         code == ErrorCode::kLeaseLost;
}

}  // namespace

ServedShards::ServedShards(const Env& env, LogWriter& log, const LeaseView& lease,
                           MemoryBudget& memory)
    : env_(env),
      log_(log),
      lease_(lease),
      memory_(memory),
      slots_(size_t{1} << Prefix::kMaxLength, nullptr) {}

void ServedShards::point(Prefix shard, const std::shared_ptr<Shard>* to) {
  const auto begin = slots_.begin() + static_cast<ptrdiff_t>(slot(shard.first()));
  std::fill_n(begin, size_t{1} << (Prefix::kMaxLength - shard.length), to);
}

void ServedShards::add(std::shared_ptr<Shard> shard) {
  const Prefix prefix = shard->prefix();
  for (const auto& [other, place] : places_) {
    MORULA_CHECK(!other.contains(prefix) && !prefix.contains(other), "a space is one shard's");
  }
  const auto added = places_.emplace(prefix, Place{std::move(shard)}).first;
  point(prefix, &added->second.shard);
}

void ServedShards::serve(std::shared_ptr<Shard> shard) {
  add(std::move(shard));
}

bool ServedShards::stop(Prefix shard) {
  const auto found = places_.find(shard);
  if (found == places_.end()) return false;
  found->second.served = false;
  point(shard, nullptr);
  return true;
}

bool ServedShards::resume(Prefix shard) {
  const auto found = places_.find(shard);
  if (found == places_.end()) return false;
  found->second.served = true;
  point(shard, &found->second.shard);
  return true;
}

void ServedShards::remove(Prefix shard) {
  if (stop(shard)) places_.erase(shard);
}

void ServedShards::remove_all() {
  std::ranges::fill(slots_, nullptr);
  places_.clear();
}

bool ServedShards::replace(const std::vector<Prefix>& old,
                           const std::vector<std::shared_ptr<Shard>>& fresh) {
  if (!std::ranges::all_of(old, [&](Prefix prefix) { return serves(prefix); })) return false;
  uint64_t space = 0;  // in slots
  std::optional<LogSeq> last;
  for (const Prefix prefix : old) {
    space += uint64_t{1} << (Prefix::kMaxLength - prefix.length);
    last = std::max(last, applied(prefix));
    remove(prefix);
  }
  for (const auto& shard : fresh) {
    MORULA_CHECK(!last || shard->applied() >= last || *last < log_.acknowledged(),
                 "what its rows show is not durable yet");
    space -= uint64_t{1} << (Prefix::kMaxLength - shard->prefix().length);
    add(shard);
  }
  MORULA_CHECK(space == 0, "shards are exchanged for others of the same space");
  return true;
}

std::vector<std::shared_ptr<Shard>> ServedShards::all() const {
  std::vector<std::shared_ptr<Shard>> shards;
  shards.reserve(places_.size());
  for (const auto& [prefix, place] : places_) shards.push_back(place.shard);
  return shards;
}

std::shared_ptr<Shard> ServedShards::find_shard(Prefix shard) const {
  const auto found = places_.find(shard);
  return found == places_.end() ? nullptr : found->second.shard;
}

bool ServedShards::serves(Prefix shard) const {
  const auto found = places_.find(shard);
  return found != places_.end() && found->second.served;
}

Shard& ServedShards::shard_of(StreamId id) const {
  const auto* shard = slots_[slot(id)];
  MORULA_CHECK(shard != nullptr, "who asks has looked whether it is served");
  return **shard;
}

template <class Read>
auto ServedShards::ask(StreamId id, Read read) -> decltype(read(std::declval<Shard&>())) {
  for (int asked = 0; asked < kAsksMax && serves(id); ++asked) {
    const std::shared_ptr<Shard> shard = *slots_[slot(id)];  // it may be replaced meanwhile
    auto answer = read(*shard);
    if (answer || !may_be_outdated(answer.error().code)) return answer;
    if (serves(id) && *slots_[slot(id)] == shard) return answer;
    env_.trace.sometimes("a read's shard was replaced and could not answer", true);
  }
  return moved();
}

Result<std::optional<Row>> ServedShards::find_hot(StreamId id) {
  return ask(id, [&](Shard& shard) { return shard.find_hot(id); });
}

Result<std::optional<Row>> ServedShards::find(std::string_view meta_key) {
  return ask(row_key::stream_id(meta_key), [&](Shard& shard) { return shard.find(meta_key); });
}

Result<> ServedShards::scan_data(DataScan& scan, const TakeRow& take) {
  return ask(scan.id, [&](Shard& shard) { return shard.scan_data(scan, take); });
}

Result<> ServedShards::scan_index(Prefix prefix, RangeScan& scan, const TakeRow& take) {
  const std::shared_ptr<Shard> shard = find_shard(prefix);
  if (!serves(prefix)) return moved();
  auto scanned = shard->scan_index(scan, take);
  if (!scanned && !serves(prefix)) return moved();
  return scanned;
}

LogSeq ServedShards::apply(StreamId id, const ChangedRows& rows) {
  return shard_of(id).apply(id, rows);
}

std::optional<LogSeq> ServedShards::applied(Prefix shard) const {
  const auto found = find_shard(shard);
  return found ? found->applied() : std::nullopt;
}

Result<MemoryReservation> ServedShards::wait_for_room(StreamId id, uint64_t bytes, Change change) {
  if (!serves(id)) return moved();
  const std::shared_ptr<Shard> shard = *slots_[slot(id)];  // it may be replaced meanwhile
  return shard->wait_for_room(bytes, change);
}

Result<MemoryReservation> ServedShards::reserve_read(uint64_t bytes) {
  return memory_.reserve_read(bytes);
}

Result<> ServedShards::grow_read(MemoryReservation& read, uint64_t bytes) {
  return memory_.grow_read(read, bytes);
}

Result<> ServedShards::confirm(std::optional<LogSeq> reflects, Wrote wrote) {
  if (reflects && !mutated(Mutant::ack_before_durable)) {
    MORULA_TRY(log_.wait_to_answer(*reflects));
  }
  if (wrote == Wrote::kNo && !lease_.holds() && !mutated(Mutant::serve_after_lease)) {
    env_.trace.sometimes("an answer was held back for want of a lease", true);
    return fail(ErrorCode::kLeaseLost, "this instance's lease does not hold at the moment");
  }
  return {};
}

Generation ServedShards::next_generation(StreamId id, std::optional<Generation> last) const {
  return shard_of(id).next_generation(last);
}

WallTime ServedShards::wall() const {
  return log_.wall();
}

WallTime ServedShards::durable_wall(StreamId id) const {
  return shard_of(id).durable_wall();
}

}  // namespace morula
