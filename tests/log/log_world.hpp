// One owner's log in a drawn world: appenders, trims, pauses, a crash or a clean stop, takers that
// fence it at any moment, a store in drawn weather; and the rules R0, R1, R3a, R3e, R7, R8 and R9
// as plain statements about what was sent, what has landed and what was told.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/rt/random.hpp"
#include "tests/log/log_fixture.hpp"
#include "tests/log/weather.hpp"

namespace morula::log_test {

/// Sees everything and says which rule was broken first.
class LogRules final : public sim::Observer {
 public:
  LogRules(sim::World& world, uint64_t window) : world_(world), window_(window) {
    world_.trace().add_observer(*this);
  }
  ~LogRules() override { world_.trace().remove_observer(*this); }

  void set_owner(sim::ProcessId owner) { owner_ = owner; }
  void appended(LogSeq seq, const std::string& payload) { records_[seq.value].push_back(payload); }
  /// A waiter was told that `seq` is acknowledged.
  void told(LogSeq seq) {
    require(all_landed_below(seq.value + 1), "a waiter was told before all had landed");
    if (fence_) require(seq.value < *fence_, "a waiter was told of what lies beyond a fence");
    told_.insert(seq.value);
  }
  void require(bool holds, const std::string& rule) {
    if (!holds && !broken_) broken_ = rule;
  }

  uint64_t acknowledged() const { return acknowledged_; }
  uint64_t trimmed() const { return trimmed_; }
  std::optional<uint64_t> fence() const { return fence_; }
  const std::set<uint64_t>& told() const { return told_; }
  const std::vector<std::string>& records_of(uint64_t seq) { return records_[seq]; }
  const std::optional<std::string>& broken() const { return broken_; }

  void on_store_sent(const StoreRequest& request) override {
    const auto seq = put_seq(request);
    if (!seq || request.process != owner_) return;
    require(*seq < window_ || landed_.contains(*seq - window_), "a batch was sent too far ahead");
  }

  void on_store_changed(const StoreRequest&, std::string_view key, const Blob& body) override {
    if (!key.starts_with(keys::log_folder(kOwner))) return;
    const uint64_t seq = keys::log_seq(key)->value;
    if (body == nullptr) {
      const auto above = std::distance(landed_.upper_bound(seq), landed_.end());
      require(static_cast<uint64_t>(above) >= window_, "one of the last landed was deleted");
      return;
    }
    const auto object = decode_log_object(*body);
    require(object.has_value() && object->seq.value == seq, "what was written does not decode");
    if (!object || object->is_fence) return;
    landed_.insert(seq);
    std::vector<std::string> payloads;
    for (const LogRecord& record : object->records) payloads.emplace_back(record.payload);
    require(payloads == records_[seq], "a batch does not hold what was appended to it");
  }

  void on_step(const sim::Life&, const StepEvent& event) override {
    switch (event.step) {
      case Step::kPutLog:
        require(event.position == next_sent_++, "a batch was sent before the one below it");
        return;
      case Step::kAcknowledge:
        require(event.position > acknowledged_, "the acknowledged position did not advance");
        require(all_landed_below(event.position), "acknowledged before all had landed");
        if (fence_) require(event.position <= *fence_, "acknowledged beyond a fence");
        acknowledged_ = std::max(acknowledged_, event.position);
        return;
      case Step::kTrim:
        trimmed_ = std::max(trimmed_, event.position);
        return;
      case Step::kFenced:
        require(is_fence(event.position), "fenced without foreign content");
        return;
      case Step::kFence:
        return counted(event.position);
      default:
        return;
    }
  }

 private:
  /// A taker says that its fence counts.
  void counted(uint64_t fence) {
    require(!fence_ || *fence_ == fence, "two takers believe in different fences");
    fence_ = fence;
    require(is_fence(fence), "a fence that is not there counts");
    require(acknowledged_ <= fence, "a fence counts below the acknowledged position");
    for (const uint64_t seq : told_) require(seq < fence, "a fence counts below what was told");
    for (uint64_t seq = trimmed_; seq < fence; ++seq) {
      require(world_.store().peek(log_key(seq)) != nullptr, "there is a hole below a fence");
    }
  }

  bool is_fence(uint64_t seq) const {
    const Blob body = world_.store().peek(log_key(seq));
    return body != nullptr && body->size() == kLogFenceBytes;
  }
  bool all_landed_below(uint64_t end) {
    while (landed_.contains(landed_below_)) ++landed_below_;
    return end <= landed_below_;
  }

  sim::World& world_;
  uint64_t window_;
  sim::ProcessId owner_ = 0;
  std::map<uint64_t, std::vector<std::string>> records_;  // by batch, as appended
  std::set<uint64_t> landed_;                             // batches that have landed at least once
  uint64_t landed_below_ = 0;
  uint64_t next_sent_ = 0;
  uint64_t acknowledged_ = 0;
  uint64_t trimmed_ = 0;  // what a trim may have deleted lies below
  std::set<uint64_t> told_;
  std::optional<uint64_t> fence_;
  std::optional<std::string> broken_;
};

/// Runs one such world.
class LogWorld {
 public:
  explicit LogWorld(uint64_t seed)
      : world_(seed), random_(seed), config_(draw_config()), rules_(world_, config_.window) {
    world_.store().set_manners({.abilities = {.ranges = true, .batch_remove = random_.chance(1, 2)},
                                .page_keys_max = random_.between(1, 40)});
    world_.store().set_fates(fates_in(Weather::draw(random_), random_.next()));
  }

  /// The rule that was broken; nullopt when all held.
  std::optional<std::string> run() {
    sim::Process& owner = add_process("owner");
    rules_.set_owner(owner.id());
    owner.spawn("owner", [this, draw = random_.fork()](const Env& env) mutable { own(env, draw); });
    disturb(owner);
    for (uint64_t taker = random_.below(4); taker > 0; --taker) add_taker(taker);
    world_.run_for(seconds(20));
    judge();
    if (world_.failure()) return world_.failure()->detail;
    return rules_.broken();
  }
  /// What was passed, and whether it was reached, in this world.
  std::map<std::string, bool> places() { return world_.trace().places(); }

 private:
  sim::Process& add_process(std::string name) {
    sim::ProcessOptions options;
    options.name = std::move(name);
    return world_.add(options);
  }

  LogConfig draw_config() {
    LogConfig config;
    config.window = random_.between(1, 5);
    config.batch_bytes_max = random_.between(300, 1500);
    config.queued_bytes_max = random_.between(500, 20'000);
    config.flush_interval = milliseconds(random_.between(0, 50));
    config.puts_per_second = random_.chance(1, 2) ? random_.between(20, 200) : 0;
    config.puts_burst = random_.between(1, 5);
    config.retry = {.attempt_timeout = milliseconds(random_.between(100, 500)),
                    .backoff_min = milliseconds(5),
                    .backoff_max = milliseconds(100)};
    return config;
  }

  void own(const Env& env, Random& draw) {
    run_log(env, config_, [&](LogWriter& log) {
      with_scope(env.domain, [&](Scope& scope) {
        for (uint64_t i = draw.between(1, 4); i > 0; --i) {
          scope.spawn("appender", [&, own = draw.fork()]() mutable { append(env, log, own); });
        }
        scope.spawn("trimmer", [&, own = draw.fork()]() mutable { trim(env, log, own); });
        const bool stops = draw.chance(1, 3);
        env.clock.sleep(milliseconds(draw.between(500, 8000)));
        if (stops) {
          stopping_ = true;
          (void)log.stop();
        }
        scope.join();
      });
    });
  }

  void append(const Env& env, LogWriter& log, Random& draw) {
    for (uint64_t i = 0; i < 200; ++i) {
      if (!log.wait_for_room() || stopping_) return;
      const std::string payload = std::to_string(draw.next()) + std::string(draw.below(400), '.');
      const LogSeq seq = log.append(kStream, payload);
      if (log.fenced()) return;
      rules_.appended(seq, payload);
      if (draw.chance(1, 20)) log.cut();
      if (draw.chance(1, 2)) {
        if (!log.wait_acknowledged(seq)) return;
        rules_.told(seq);
      }
      if (draw.chance(1, 2)) env.clock.sleep(milliseconds(draw.below(60)));
    }
  }

  void trim(const Env& env, LogWriter& log, Random& draw) {
    for (uint64_t i = 0; i < 20 && !log.fenced() && !stopping_; ++i) {
      env.clock.sleep(milliseconds(draw.between(50, 500)));
      (void)log.trim(log.acknowledged() - std::min(log.acknowledged().value, draw.below(4)));
    }
  }

  /// A pause of the owner, or a crash.
  void disturb(sim::Process& owner) {
    const auto always = sim::EventQueue::kAlwaysOpen;
    const Duration when = milliseconds(random_.between(1, 6000));
    if (random_.chance(1, 2)) {
      const Duration how_long = milliseconds(random_.between(10, 6000));
      world_.events().after(when, always, [&owner] {
        if (owner.alive()) owner.pause();
      });
      world_.events().after(when + how_long, always, [&owner] {
        if (owner.alive()) owner.resume();
      });
    } else if (random_.chance(1, 3)) {
      world_.events().after(when, always, [&owner] { owner.kill(); });
    }
  }

  void add_taker(uint64_t number) {
    sim::Process& taker = add_process("taker" + std::to_string(number));
    taker.spawn("taker", [this, draw = random_.fork()](const Env& env) mutable {
      env.clock.sleep(milliseconds(draw.below(4000)));
      const uint64_t known = draw.chance(1, 2) ? rules_.acknowledged() : 0;
      env.clock.sleep(milliseconds(draw.below(4000)));
      (void)fence_log(env, kTaker, kOwner, LogSeq(known), config_.window, config_.retry);
    });
  }

  /// Under a clear sky: whatever went on before, the log can be taken, and all that was told is
  /// there to be replayed.
  void judge() {
    world_.store().set_fates({});
    sim::Process& judge = add_process("judge");
    bool done = false;
    judge.spawn("judge", [&](const Env& env) {
      const auto fence = fence_log(env, kOther, kOwner, LogSeq(rules_.acknowledged()),
                                   config_.window, config_.retry);
      rules_.require(fence.has_value(), "the log cannot be fenced");
      if (fence) replay(env, *fence);
      done = true;
    });
    world_.run_until_true([&] { return done; }, world_.now() + std::chrono::minutes(5));
    rules_.require(done, "the log was not taken in five minutes");
    world_.run_for(seconds(10));  // for zombies, and what they still do
  }

  void replay(const Env& env, LogSeq fence) {
    const LogSeq from(std::min(rules_.trimmed(), fence.value));
    std::set<uint64_t> replayed;
    const auto result = replay_log(
        env, kOther, kOwner, from, fence, config_.retry, [&](const LogObject& object) -> Result<> {
          rules_.require(replayed.empty() || *replayed.rbegin() < object.seq.value,
                         "replay goes back");
          replayed.insert(object.seq.value);
          rules_.require(object.records.size() == rules_.records_of(object.seq.value).size(),
                         "replay misses records");
          return {};
        });
    rules_.require(result.has_value(),
                   "replay ends with " + (result ? std::string() : result.error().message));
    for (const uint64_t seq : rules_.told()) {
      if (seq >= from.value) {
        rules_.require(replayed.contains(seq), "what was told is not replayed");
      }
    }
  }

  sim::World world_;
  Random random_;
  LogConfig config_;
  LogRules rules_;
  bool stopping_ = false;
};

}  // namespace morula::log_test
