// Random histories of one stream, drawn from a model that carries out each operation at one moment
// between its beginning and its end: so they are linearizable by construction. And the same model
// with one fault, after which they are not.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/rt/random.hpp"
#include "tests/invariants/story.hpp"

namespace morula::invariants {

/// How the model misbehaves, once.
enum class Flaw : uint8_t {
  kNone,
  kLosesAppend,      // an acknowledged append is not in the stream
  kForgetsAppend,    // an append that was there disappears later
  kDoublesAppend,    // an append is there twice
  kSwapsAppends,     // two neighbours change places after they were shown
  kReadsStale,       // a read shows the stream as it was before another operation ended
  kVanishes,         // the stream is gone without a delete
  kForgetsDelete,    // a deleted stream is back with all it had
  kReusesGeneration  // a re-created stream has the generation of the one before
};

class ModelHistory {
 public:
  ModelHistory(uint64_t seed, Flaw flaw) : random_(seed), flaw_(flaw) {}

  /// Tells a story of `steps` steps and reads the stream at its end. Returns whether the flaw came
  /// to pass; without one, true.
  bool tell(Story& story, int steps) {
    for (auto& client : clients_) client = {};
    for (int i = 0; i < steps; ++i) step(story, clients_[random_.below(kClients)]);
    for (Client& client : clients_) {
      while (client.op) step(story, client);
    }
    read_at_end(story);
    return flaw_ == Flaw::kNone || flawed_;
  }

 private:
  static constexpr size_t kClients = 4;

  struct State {
    bool exists = false;
    uint64_t generation = 0;
    std::vector<RecordId> records;
  };
  struct Client {
    std::optional<OpRef> op;
    Request request;
    std::optional<Response> response;  // once it has been carried out
    std::vector<RecordId> shown;
    State at_begin;
  };

  void step(Story& story, Client& client) {
    if (!client.op) return begin(story, client);
    if (!client.response) {
      bool before = flawed_;
      carry_out(client);
      // Sometimes nobody hears of it.
      if (before == flawed_ && random_.chance(1, 10)) give_up(story, client);
      return;
    }
    end(story, client);
  }

  void begin(Story& story, Client& client) {
    uint32_t number = ++number_;
    auto id = static_cast<uint32_t>(&client - clients_) + 1;
    // After the flaw the stream stays, so that the last read must show it; what vanishes without a
    // delete does so in a history without deletes.
    bool may_delete = !flawed_ && flaw_ != Flaw::kVanishes;
    uint64_t choice = random_.below(may_delete ? 20 : 18);
    if (choice < 3) {
      client.request = Story::create(id, number);
    } else if (choice < 11) {
      client.request = Story::append(id, number);
    } else if (choice < 16) {
      client.request = Story::read(id, number);
    } else if (choice < 18) {
      client.request = Story::head(id, number);
    } else {
      client.request = Story::remove(id, number);
    }
    client.at_begin = state_;
    client.op = story.begin(client.request);
  }

  /// True once, when the flaw is this one and its moment has come.
  bool fails_now(Flaw flaw) {
    if (flaw_ != flaw || flawed_ || !random_.chance(1, 3)) return false;
    for (const Client& client : clients_) {
      bool other = flaw != Flaw::kForgetsDelete || client.response;
      if (client.op && client.request.kind == OpKind::kDelete && other) return false;
    }
    flawed_ = true;
    return true;
  }

  void carry_out(Client& client) {
    spoil(client);
    switch (client.request.kind) {
      case OpKind::kCreate:
        return create(client);
      case OpKind::kAppend:
        return append(client);
      case OpKind::kRead:
      case OpKind::kHead:
      case OpKind::kListed:
        return look(client);
      case OpKind::kDelete:
        return remove(client);
    }
  }

  /// Flaws that strike between operations.
  void spoil(const Client& client) {
    std::vector<RecordId>& records = state_.records;
    if (!state_.exists) return;
    bool settled = acknowledged_ >= records.size() && acknowledged_in_ == state_.generation;
    if (!records.empty() && settled && fails_now(Flaw::kForgetsAppend)) records.pop_back();
    if (records.size() > 1 && shown_ >= records.size() && shown_in_ == state_.generation &&
        fails_now(Flaw::kSwapsAppends)) {
      std::swap(records[0], records[1]);
    }
    bool looks = client.request.kind == OpKind::kRead || client.request.kind == OpKind::kAppend;
    if (looks && settled && fails_now(Flaw::kVanishes)) state_.exists = false;
  }

  void create(Client& client) {
    if (state_.exists) {
      client.response = Story::ok(state_.generation, state_.records.size());
      client.response->existed = true;
      return;
    }
    bool again = !state_.records.empty() && state_.generation > 0;
    if (!(again && fails_now(Flaw::kReusesGeneration))) {
      state_.generation += 1 + random_.below(2);
    }
    state_.exists = true;
    state_.records.clear();
    client.response = Story::ok(state_.generation, 0);
  }

  void append(Client& client) {
    if (!state_.exists) {
      client.response = Story::absent();
      return;
    }
    std::vector<RecordId>& records = state_.records;
    records.push_back(client.request.record);
    client.response = Story::ok(state_.generation, records.size());
    if (fails_now(Flaw::kLosesAppend)) records.pop_back();
    if (fails_now(Flaw::kDoublesAppend)) records.push_back(client.request.record);
  }

  void look(Client& client) {
    const State* shown = &state_;
    State stale = settled_before(client);
    if (stale.exists && fails_now(Flaw::kReadsStale)) shown = &stale;
    if (!shown->exists) {
      client.response = Story::absent();
      return;
    }
    client.shown = shown->records;
    client.response = Story::ok(shown->generation, shown->records.size());
    if (client.request.kind == OpKind::kRead && shown == &state_) {
      shown_ = shown->records.size();
      shown_in_ = shown->generation;
    }
  }

  /// The state before the last acknowledged append, when that was acknowledged before the client
  /// began; a state that does not exist otherwise.
  State settled_before(const Client& client) const {
    State stale = client.at_begin;
    bool settled = stale.exists && !stale.records.empty() &&
                   acknowledged_ >= stale.records.size() && acknowledged_in_ == stale.generation &&
                   acknowledged_at_ < client.request.number;
    if (!settled) return {};
    stale.records.pop_back();
    return stale;
  }

  void remove(Client& client) {
    if (!state_.exists) {
      client.response = Story::absent();
      return;
    }
    if (!fails_now(Flaw::kForgetsDelete)) state_.exists = false;
    client.response = Story::ok(state_.generation, 0);
    client.response->next.reset();
  }

  void give_up(Story& story, Client& client) {
    story.end(*client.op, Story::unknown());
    client = {};
  }

  void end(Story& story, Client& client) {
    Response response = *client.response;
    if (client.request.kind == OpKind::kRead && response.outcome == Outcome::kOk) {
      response = story.shows(*response.generation, client.shown.size(), client.shown);
    }
    if (client.request.kind == OpKind::kAppend && response.outcome == Outcome::kOk) {
      acknowledged_ = response.next->messages;
      acknowledged_in_ = *response.generation;
      acknowledged_at_ = number_;
    }
    story.end(*client.op, response);
    client = {};
  }

  void read_at_end(Story& story) {
    Request last = Story::read(kClients + 1, ++number_);
    last.final = true;
    OpRef op = story.begin(last);
    if (!state_.exists) return story.end(op, Story::absent());
    story.end(op, story.shows(state_.generation, state_.records.size(), state_.records));
  }

  Random random_;
  Flaw flaw_;
  bool flawed_ = false;
  State state_;
  Client clients_[kClients];
  uint32_t number_ = 0;
  uint64_t shown_ = 0;  // messages that a read has been carried out for, and of which generation
  uint64_t shown_in_ = 0;
  uint64_t acknowledged_ = 0;  // the last acknowledged append: its end, generation, and when
  uint64_t acknowledged_in_ = 0;
  uint32_t acknowledged_at_ = 0;
};

}  // namespace morula::invariants
