// Giving a shard to another instance (OWNERSHIP R4), the giver's side.
#include <algorithm>

#include "core/base/mutant.hpp"
#include "core/cell/handoff_messages.hpp"
#include "core/cell/shard_changes.hpp"
#include "core/lsm/manifest_succession.hpp"
#include "core/rt/clock.hpp"
#include "core/rt/concurrently.hpp"
#include "core/rt/random.hpp"
#include "core/rt/trace.hpp"
#include "core/store/backoff.hpp"

namespace morula {

namespace {

constexpr int kAttemptsMax = 6;
constexpr int kAsksMax = 3;
// The receiver may have much to read; while it does, the giver serves on.
constexpr Duration kPreparePatience = std::chrono::seconds(60);
constexpr Duration kPrepareAgainPatience = std::chrono::seconds(5);
constexpr Duration kPrepareLastPatience = std::chrono::milliseconds(200);
constexpr Duration kAskPatience = std::chrono::seconds(1);
constexpr Duration kTellPatience = std::chrono::seconds(5);

/// A move is under way as long as this lives: `/v1/cell/plan` says so.
class Announced {
 public:
  Announced(std::vector<CellView::Move>& moves, Prefix prefix, const IncarnationId& to)
      : moves_(moves), prefix_(prefix) {
    moves_.push_back({prefix, to});
  }
  ~Announced() {
    std::erase_if(moves_, [&](const CellView::Move& move) { return move.prefix == prefix_; });
  }
  Announced(const Announced&) = delete;
  Announced& operator=(const Announced&) = delete;

 private:
  std::vector<CellView::Move>& moves_;
  Prefix prefix_;
};

}  // namespace

Result<Changed> ShardChanges::move(Prefix prefix, const IncarnationId& to) {
  if (to == log_.incarnation()) return Changed{false, map_.topology()->version};
  auto address = host_.address_of(to);
  MORULA_TRY(address);
  auto shard = map_.served().find_shard(prefix);
  if (shard == nullptr) {
    return fail(ErrorCode::kMoved, "this instance does not serve shard " + prefix.text());
  }
  if (std::ranges::find(moves_, prefix, &CellView::Move::prefix) != moves_.end()) {
    return fail({ErrorCode::kBusy, "the shard is being moved", 1000});
  }
  const Announced announced(moves_, prefix, to);
  MORULA_TRY(prepare(*address, *shard, to, kPreparePatience));
  auto held = hold({prefix});
  MORULA_TRY(held);
  shard = held->shards.front();
  // Once more, what has come meanwhile: from now on nothing is flushed that would outdate it.
  MORULA_TRY(prepare(*address, *shard, to, kPrepareAgainPatience));

  Error why{ErrorCode::kBusy, "others change the topology all the time", 1000};
  Backoff backoff(env_, retry_, "handoff");
  for (int made = 0; made < kAttemptsMax; ++made) {
    if (made > 0) backoff.pause({ErrorCode::kBusy, why.message});
    auto ended = HandOff(shard, to, *address);
    if (!ended) {
      why.message = ended.error().message;
      if (ended.error().code == ErrorCode::kInvalid) break;
      continue;
    }
    if (ended->end == Attempt::End::kLost) return after_loss(*std::move(held), ended->now);
    if (ended->end == Attempt::End::kFailed) continue;
    env_.trace.step(
        {Step::kHandOff, log_.incarnation().text(), prefix.text(), 0, ended->now.version.value});
    held->hold.release();
    map_.learn(ended->now);
    map_.learn_address(to, *address);
    AdoptedShard& given = ended->next.front();
    tell(*address, {to, ended->now, given.manifest_key, std::move(given.manifest)});
    return Changed{true, ended->now.version};
  }
  Reopen(held->shards);
  return fail(why);
}

Result<HttpResponse> ShardChanges::call(const std::string& address, std::string_view path,
                                        std::string body, Duration patience) {
  HttpRequest request;
  request.method = "POST";
  request.target = path;
  request.headers.set("Content-Type", "application/json");
  request.body = std::move(body);
  auto answer = env_.network.call(address, request, env_.clock.now() + patience);
  if (!answer) return fail(ErrorCode::kBusy, address + ": " + answer.error().message);
  if (answer->status == 200) return answer;
  const ErrorCode code = answer->status == 503 ? ErrorCode::kBusy : ErrorCode::kInvalid;
  return fail(code, address + " answers " + std::to_string(answer->status) + ": " + answer->body);
}

Result<> ShardChanges::prepare(const std::string& address, const Shard& shard,
                               const IncarnationId& to, Duration patience) {
  const PrepareMessage message{to,
                               log_.incarnation(),
                               shard.prefix(),
                               next_epoch(shard.epoch()),
                               shard.manifest_key(),
                               shard.manifest(),
                               log_.acknowledged()};
  MORULA_TRY(call(address, kPreparePath, encode(message), patience));
  return {};
}

/// All asks of an attempt are one: whichever answer comes, it is the same position.
Result<LogSeq> ShardChanges::ask(const std::string& address, Prefix shard, const IncarnationId& to,
                                 Version topology) {
  const AcceptMessage message{to, shard, Ulid::draw(env_.clock.wall(), env_.random), topology};
  for (int made = 1;; ++made) {
    auto answer = call(address, kAcceptPath, encode(message), kAskPatience);
    if (answer) return decode_accepted(answer->body);
    if (made == kAsksMax || answer.error().code == ErrorCode::kInvalid) {
      return fail(std::move(answer).error());
    }
    env_.trace.sometimes("a receiver was asked again", true);
  }
}

// Step HandOff
Result<ShardChanges::Attempt> ShardChanges::HandOff(const std::shared_ptr<Shard>& shard,
                                                    const IncarnationId& to,
                                                    const std::string& address) {
  const MutexLock window(topology_mutex_);
  auto base = read_topology(env_, retry_);
  MORULA_TRY(base);
  if (!*base) return fail(ErrorCode::kCorrupt, "topology.json is gone");
  Attempt lost{Attempt::End::kLost, {}, (*base)->content};
  if (!still_names(lost.now, {shard})) return lost;
  const auto from = ask(address, shard->prefix(), to, lost.now.version);
  MORULA_TRY(from);
  const auto sealed = seal_all({shard});
  MORULA_TRY(sealed);
  if (!*sealed) return lost;

  const bool serves_on = mutated(Mutant::handoff_keeps_writing);
  env_.trace.log(Severity::kInfo, "handing_over",
                 {{"shard", shard->prefix().text()}, {"to", to.text()}});
  if (!serves_on) map_.served().stop(shard->prefix());
  auto ended = give(**base, shard, to, address, *from);
  const bool open = !ended || ended->end == Attempt::End::kFailed;
  if (open && !serves_on) map_.resume(shard->prefix());
  env_.trace.sometimes("a handoff's CAS failed, and its giver served on", open);
  return ended;
}

/// The shard is not served: nothing is added to it any more.
Result<ShardChanges::Attempt> ShardChanges::give(const Versioned<Topology>& base,
                                                 const std::shared_ptr<Shard>& shard,
                                                 const IncarnationId& to,
                                                 const std::string& address, LogSeq from) {
  const LogSeq end = log_.cut_now();
  std::vector<AdoptedShard> next;
  Manifest manifest =
      handed_over(shard->manifest(), shard->prefix(), log_.incarnation(), end, to, from);
  manifest.wall_floor = std::max(manifest.wall_floor, log_.wall_floor());
  next.push_back(
      {shard->prefix(), next_epoch(shard->epoch()), to, {}, {std::move(manifest), {}}, {}});
  // Until it is named, the manifest is nothing: it needn't wait for the log.
  const auto both = for_each_concurrently(2, 2, [&](size_t i) -> Result<> {
    if (i == 0) return change_.put_manifests(next, base.content.version);
    if (end > LogSeq(0)) MORULA_TRY(log_.wait_acknowledged(end - 1));
    return {};
  });
  MORULA_TRY(both);
  if (mutated(Mutant::resume_before_resolved)) map_.resume(shard->prefix());
  Result<Attempt> ended = fail(ErrorCode::kBusy, "");
  const auto done = for_each_concurrently(2, 2, [&](size_t i) -> Result<> {
    if (i == 0) {
      ended = publish(base, {shard}, std::move(next));
    } else {
      // While the swap is under way the receiver reads the last of the log.
      (void)prepare(address, *shard, to, kPrepareLastPatience);
    }
    return {};
  });
  MORULA_TRY(done);
  MORULA_TRY(ended);
  if (ended->end == Attempt::End::kFailed && mutated(Mutant::handoff_rebases_version)) {
    const auto later = read_topology(env_, retry_);
    MORULA_TRY(later);
    return publish(**later, {shard}, std::move(ended->next));
  }
  return ended;
}

/// The receiver would find out by itself, a little later.
void ShardChanges::tell(const std::string& address, const NamedMessage& message) {
  const auto told = call(address, kNamedPath, encode(message), kTellPatience);
  env_.trace.sometimes("a receiver did not hear that it was named", !told);
}

}  // namespace morula
