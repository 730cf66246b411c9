// Many fibers, one shard, and everything that can come between: suspensions, cancelled requests,
// failing stores, evicted states, takeovers that lose what was not acknowledged, moves to another
// owner and back. Whatever happens, every answer must be that of the model at some moment between
// request and answer, of a state that was durable by then.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "sim/world/test_world.hpp"
#include "tests/stream/stream_model.hpp"
#include "tests/stream/stream_wish.hpp"

namespace morula {
namespace {

/// A request that was made, and what came of it.
struct Made {
  ModelRequest request;
  uint64_t asked_at = 0;
  uint64_t answered_at = UINT64_MAX;
  WallTime asked_wall{};
  WallTime answered_wall{};
  std::string answer = "?";
};

/// A state of one stream.
struct Moment {
  ModelStream stream;
  size_t record = 0;  // of the journal
  bool used = false;  // a request has led here
};

struct Incarnation {
  Incarnation(const Env& env, const StreamLimits& limits) : rows(env), streams(env, rows, limits) {}
  MemoryRows rows;
  Streams streams;
};

class ModelRun {
 public:
  explicit ModelRun(uint64_t seed) : world_(seed) {
    limits_.cached_streams_max = 2;
    limits_.cached_producers_max = 1;
    limits_.read_bytes_max = 60;
    for (auto& moments : moments_) moments.push_back({{}, 0, true});
  }

  void run(const std::vector<std::vector<Wish>>& scripts, uint64_t takeovers, uint64_t moves) {
    const bool ended = world_.run([&](const Env& env) {
      env_ = &env;
      begin_incarnation();
      with_scope(env.domain, [&](Scope& background) {
        background.spawn("durable", [&] { acknowledge_now_and_then(); });
        with_scope(env.domain, [&](Scope& clients) {
          for (const auto& script : scripts) {
            clients.spawn("client", [&] { play(script); });
          }
          clients.spawn("takeovers", [&] {
            for (uint64_t i = 0; i < takeovers; ++i) {
              env.clock.sleep(std::chrono::microseconds(env.random.below(15'000)));
              take_over();
            }
          });
          clients.spawn("moves", [&] {
            for (uint64_t i = 0; i < moves; ++i) {
              env.clock.sleep(std::chrono::microseconds(env.random.below(15'000)));
              move();
            }
          });
          clients.join();
        });
      });
      acknowledge(journal_.size());
      for (size_t i = 0; i < kStreams; ++i) look(i);
    });
    RC_ASSERT(ended);
  }

  /// Every answer is the model's, every change is somebody's.
  void check() {
    std::stable_sort(made_.begin(), made_.end(),
                     [](const Made& a, const Made& b) { return a.answered_at < b.answered_at; });
    for (const Made& made : made_) {
      if (made.answer == "?") continue;
      const size_t stream = made.request.stream.id.low;
      if (!explain(moments_[stream], made)) RC_FAIL(complaint(moments_[stream], made));
    }
    for (size_t stream = 0; stream < kStreams; ++stream) {
      for (size_t i = 1; i < moments_[stream].size(); ++i) {
        if (!moments_[stream][i].used) RC_ASSERT(some_lost_request_made(moments_[stream], i));
      }
    }
  }

  size_t answered() const {
    return static_cast<size_t>(std::count_if(made_.begin(), made_.end(),
                                             [](const Made& made) { return made.answer != "?"; }));
  }

 private:
  struct Entry {
    MemoryRows::Record record;
    std::optional<uint64_t> durable_at;
  };

  // --- The shard's life ---

  void begin_incarnation() {
    current_ = std::make_shared<Incarnation>(*env_, limits_);
    before_.reset();
    MemoryRows& rows = current_->rows;
    rows.acknowledge_at_once = false;
    rows.wall_follows_clock = true;
    rows.suspend_one_in = 2;
    rows.fail_one_in = 30;
    std::vector<MemoryRows::Record> records;
    for (const Entry& entry : journal_) records.push_back(entry.record);
    rows.restore(records);
    base_ = journal_.size();
    rows.on_apply = [this, from = current_.get()](const MemoryRows::Record& record) {
      if (from != current_.get()) return;  // nobody will ever see it
      auto& moments = moments_[record.id.low];
      moments.push_back({observe(moments.back().stream, record.rows), journal_.size()});
      journal_.push_back({record, std::nullopt});
    };
  }

  void acknowledge(size_t count) {
    for (size_t i = base_; i < count; ++i) {
      if (!journal_[i].durable_at) journal_[i].durable_at = ++tick_;
    }
    if (count > base_) current_->rows.acknowledge(LogSeq(count - base_ - 1));
  }
  size_t durable() const {
    size_t count = 0;
    while (count < journal_.size() && journal_[count].durable_at) ++count;
    return count;
  }
  void acknowledge_now_and_then() {
    for (;;) {
      env_->clock.sleep(std::chrono::microseconds(env_->random.below(4000)));
      const size_t from = durable();
      acknowledge(from + env_->random.below(journal_.size() - from + 1));
    }
  }

  /// The old incarnation is fenced; of what it had not acknowledged, some has landed.
  void take_over() {
    const size_t kept = env_->random.between(durable(), journal_.size());
    for (size_t i = durable(); i < kept; ++i) journal_[i].durable_at = ++tick_;
    for (auto& moments : moments_) {
      while (moments.size() > 1 && moments.back().record >= kept) moments.pop_back();
    }
    journal_.resize(kept);
    current_->rows.lease = false;
    current_->rows.fence();
    begin_incarnation();
  }

  /// A handoff, to the incarnation that had the shard before, if there is one. Now and then it
  /// fails after the shard has stopped, which then goes on.
  void move() {
    const std::shared_ptr<Incarnation> from = current_;
    const std::shared_ptr<Incarnation> to = before_;
    from->rows.shards.clear();
    env_->clock.sleep(std::chrono::microseconds(env_->random.below(4000)));
    if (from != current_) return;  // taken over meanwhile
    if (env_->random.chance(1, 3)) {
      from->rows.shards = {Prefix{}};
      return;
    }
    acknowledge(journal_.size());
    if (to) {
      std::vector<MemoryRows::Record> missed;
      for (size_t i = left_at_; i < journal_.size(); ++i) missed.push_back(journal_[i].record);
      current_ = to;
      current_->rows.restore(missed);
      current_->rows.shards = {Prefix{}};
      base_ = journal_.size() - current_->rows.log().size();
    } else {
      begin_incarnation();
    }
    from->streams.forget({});
    left_at_ = journal_.size();
    before_ = from;
  }

  // --- Clients ---

  void play(const std::vector<Wish>& script) {
    std::array<Offset, kStreams> seen{};  // what this client knows of tails
    for (const Wish& wish : script) {
      const size_t index = made_.size();
      made_.push_back({request_of(wish, seen[wish.stream], index)});
      made_[index].asked_at = ++tick_;
      made_[index].asked_wall = env_->clock.wall();
      with_scope(env_->domain, [&](Scope& scope) {
        scope.spawn("request", [&, index] { ask(index, seen[wish.stream]); });
        if (!wish.cancel) return scope.join();
        env_->clock.sleep(std::chrono::microseconds(env_->random.below(6000)));
      });
    }
  }

  void ask(size_t index, Offset& seen) {
    const ModelRequest request = made_[index].request;
    const std::shared_ptr<Incarnation> incarnation = current_;
    std::string answer = call(incarnation->streams, request, seen);
    Made& made = made_[index];
    made.answered_at = ++tick_;
    made.answered_wall = env_->clock.wall();
    made.answer = std::move(answer);
  }

  void look(size_t stream) {
    current_->rows.suspend_one_in = 0;
    current_->rows.fail_one_in = 0;
    for (const auto kind : {ModelRequest::Kind::kHead, ModelRequest::Kind::kRead}) {
      Wish wish;
      wish.stream = stream;
      Offset seen;
      made_.push_back({request_of(wish, seen, made_.size())});
      made_.back().request.kind = kind;
      made_.back().request.from = ReadRequest::From::kStart;
      made_.back().asked_at = ++tick_;
      made_.back().asked_wall = env_->clock.wall();
      ask(made_.size() - 1, seen);
      MORULA_CHECK(made_.back().answer != "?");
    }
  }

  static std::string call(Streams& streams, const ModelRequest& request, Offset& seen) {
    const auto text = [](const auto& outcome) {
      return std::visit([](const auto& answer) { return text_of(answer); }, outcome);
    };
    switch (request.kind) {
      case ModelRequest::Kind::kCreate:
        return text(streams.create({request.stream, "default", "path", request.content_type,
                                    request.expiry, request.body}));
      case ModelRequest::Kind::kAppend: {
        const AppendOutcome outcome =
            streams.append({request.stream, request.content_type, request.body, request.producer,
                            request.sequence, request.expected_offset});
        if (const auto* appended = std::get_if<Appended>(&outcome)) seen = appended->tail;
        return text(outcome);
      }
      case ModelRequest::Kind::kRead: {
        const ReadOutcome outcome = streams.read({request.stream, request.from, request.offset});
        if (const auto* read = std::get_if<ReadAnswer>(&outcome)) seen = read->end;
        return text(outcome);
      }
      case ModelRequest::Kind::kHead:
        return text(streams.head(request.stream));
      case ModelRequest::Kind::kRemove:
        return text(streams.remove({request.stream, "default", "path"}));
    }
    return "?";
  }

  // --- Checking ---

  /// The last moment that was durable by then.
  size_t durable_by(const std::vector<Moment>& moments, uint64_t tick) const {
    size_t last = 0;
    for (size_t i = 1; i < moments.size(); ++i) {
      const auto& at = journal_[moments[i].record].durable_at;
      if (at && *at <= tick) last = i;
    }
    return last;
  }

  static std::vector<ModelAnswer> answers_at(const ModelStream& stream, const Made& made) {
    const bool before = stream.alive(made.asked_wall);
    const bool after = stream.alive(made.answered_wall);
    std::vector<ModelAnswer> answers = Model(stream, before).answers(made.request);
    if (before != after) {
      for (auto& answer : Model(stream, after).answers(made.request)) answers.push_back(answer);
    }
    return answers;
  }

  bool explain(std::vector<Moment>& moments, const Made& made) const {
    const size_t first = durable_by(moments, made.asked_at);
    const size_t last = durable_by(moments, made.answered_at);
    for (size_t i = first; i <= last; ++i) {
      for (const ModelAnswer& answer : answers_at(moments[i].stream, made)) {
        if (answer.text != made.answer) continue;
        if (!answer.next) return true;
        if (i < last && !moments[i + 1].used && moments[i + 1].stream == *answer.next) {
          moments[i + 1].used = true;
          return true;
        }
      }
    }
    return false;
  }

  /// Whether a request without an answer explains how moment `i` came to be.
  bool some_lost_request_made(const std::vector<Moment>& moments, size_t i) {
    for (Made& made : made_) {
      if (made.answer != "?" || made.request.stream.id != moments_id(moments)) continue;
      made.answered_wall = WallTime{INT64_MAX};
      for (const ModelAnswer& answer : answers_at(moments[i - 1].stream, made)) {
        if (answer.next && *answer.next == moments[i].stream) {
          made.answer = "made " + std::to_string(i);
          return true;
        }
      }
    }
    return false;
  }
  StreamId moments_id(const std::vector<Moment>& moments) const {
    return {0, static_cast<uint64_t>(&moments - moments_.data())};
  }

  std::string complaint(const std::vector<Moment>& moments, const Made& made) const {
    std::string text = "request of stream " + std::to_string(made.request.stream.id.low) +
                       " was answered\n  " + made.answer + "\nbut could only be\n";
    const size_t last = durable_by(moments, made.answered_at);
    for (size_t i = durable_by(moments, made.asked_at); i <= last; ++i) {
      for (const ModelAnswer& answer : answers_at(moments[i].stream, made)) {
        text += "  " + std::to_string(i) + ": " + answer.text + "\n";
      }
    }
    return text;
  }

  sim::TestWorld world_;
  StreamLimits limits_;
  const Env* env_ = nullptr;
  std::shared_ptr<Incarnation> current_;
  std::shared_ptr<Incarnation> before_;  // whom the shard was moved from
  size_t left_at_ = 0;                   // of the journal, what it knows
  std::vector<Entry> journal_;           // all that is or may become durable
  size_t base_ = 0;                      // of it, what the current incarnation found
  uint64_t tick_ = 0;
  std::array<std::vector<Moment>, kStreams> moments_;
  std::vector<Made> made_;
};

size_t play(uint64_t seed, uint64_t clients, uint64_t takeovers, uint64_t moves = 0) {
  const auto scripts = *rc::gen::container<std::vector<std::vector<Wish>>>(
      clients, rc::gen::container<std::vector<Wish>>(any_wish()));
  ModelRun run(seed);
  run.run(scripts, takeovers, moves);
  run.check();
  return run.answered();
}

RC_GTEST_PROP(StreamsModel, OneClientSeesWhatTheModelSays, (uint64_t seed)) {
  play(seed, 1, 0);
}

RC_GTEST_PROP(StreamsModel, ManyClientsSeeOneOrderOfThings, (uint64_t seed)) {
  play(seed, 6, 0);
}

RC_GTEST_PROP(StreamsModel, NothingAnsweredIsLostByATakeover, (uint64_t seed)) {
  play(seed, 5, *rc::gen::inRange<uint64_t>(1, 5));
}

RC_GTEST_PROP(StreamsModel, NothingAnsweredIsLostOrStaleWhenTheShardGoesAndComesBack,
              (uint64_t seed)) {
  play(seed, 5, *rc::gen::inRange<uint64_t>(0, 2), *rc::gen::inRange<uint64_t>(2, 8));
}

}  // namespace
}  // namespace morula
