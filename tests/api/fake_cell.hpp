// A cell that is a few values in memory, and what each of its instances controls of it.
#pragma once

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/cell_control.hpp"
#include "core/topology/topology.hpp"

namespace morula {

/// Shared by its instances, as a bucket is.
struct FakeCell {
  Topology topology;
  std::vector<CellView::Known> members;

  IncarnationId add(const std::string& name, const std::string& address,
                    MemberState state = MemberState::kLive) {
    const IncarnationId incarnation{name, Ulid{1, members.size()}};
    members.push_back({incarnation, address, state});
    std::ranges::sort(members, {}, &CellView::Known::incarnation);
    return incarnation;
  }
  const IncarnationId& incarnation(std::string_view name) const { return known(name).incarnation; }
  void set_state(std::string_view name, MemberState state) {
    const_cast<CellView::Known&>(known(name)).state = state;
  }
  /// Shards in order: {"0", "i1"}, ...
  void own(const std::vector<std::pair<std::string, std::string>>& shards) {
    topology.shards.clear();
    for (const auto& [prefix, owner] : shards) {
      topology.shards.push_back(
          {Prefix::parse(prefix).value(), Epoch(1), incarnation(owner), "shards/x", {}});
    }
    ++topology.version;
  }
  /// "0:i1 10:i2 ..."
  std::string shown() const {
    std::string text;
    for (const TopologyShard& shard : topology.shards) {
      text += (text.empty() ? "" : " ") + shard.prefix.text() + ":" + shard.owner.name;
    }
    return text;
  }

 private:
  const CellView::Known& known(std::string_view name) const {
    return *std::ranges::find(members, name, [](const CellView::Known& member) {
      return std::string_view(member.incarnation.name);
    });
  }
};

class FakeControl : public CellControl {
 public:
  FakeControl(FakeCell& cell, std::string name) : cell_(cell), name_(std::move(name)) {}

  std::vector<CellView::Move> under_way;
  std::deque<Error> failures;  // of the next changes
  std::optional<Error> blind;  // of views
  std::vector<std::string> asked;

  Result<CellView> view() override {
    if (blind) return fail(*blind);
    return CellView{cell_.topology, cell_.members, self(), under_way};
  }
  Result<Changed> split(Prefix prefix) override {
    MORULA_TRY(begin("split " + prefix.text(), prefix));
    std::vector<TopologyShard> shards;
    for (const TopologyShard& shard : cell_.topology.shards) {
      if (shard.prefix != prefix) {
        shards.push_back(shard);
        continue;
      }
      shards.insert(shards.end(), 2, shard);
      shards.back().prefix = half(prefix, 1);
      shards[shards.size() - 2].prefix = half(prefix, 0);
    }
    return changed(std::move(shards));
  }
  Result<Changed> merge(Prefix prefix) override {
    MORULA_TRY(begin("merge " + prefix.text(), half(prefix, 0)));
    if (cell_.topology.find(half(prefix, 1))->owner != self()) return not_owned();
    std::vector<TopologyShard> shards = cell_.topology.shards;
    std::erase_if(shards, [&](const TopologyShard& s) { return s.prefix == half(prefix, 1); });
    for (TopologyShard& shard : shards) {
      if (shard.prefix == half(prefix, 0)) shard.prefix = prefix;
    }
    return changed(std::move(shards));
  }
  Result<Changed> move(Prefix prefix, const IncarnationId& to) override {
    MORULA_TRY(begin("move " + prefix.text() + " to " + to.name, prefix));
    std::vector<TopologyShard> shards = cell_.topology.shards;
    for (TopologyShard& shard : shards) {
      if (shard.prefix == prefix) shard.owner = to;
    }
    return changed(std::move(shards));
  }

 private:
  const IncarnationId& self() const { return cell_.incarnation(name_); }
  static Prefix half(Prefix prefix, int which) {
    return {static_cast<uint16_t>(prefix.bits << 1 | which),
            static_cast<uint8_t>(prefix.length + 1)};
  }
  static tl::unexpected<Error> not_owned() { return fail(ErrorCode::kMoved, "not owned here"); }
  Result<> begin(std::string what, Prefix prefix) {
    asked.push_back(std::move(what));
    if (!failures.empty()) {
      Error failure = failures.front();
      failures.pop_front();
      return fail(failure);
    }
    const TopologyShard* shard = cell_.topology.find(prefix);
    if (shard == nullptr || shard->owner != self()) return not_owned();
    return {};
  }
  Changed changed(std::vector<TopologyShard> shards) {
    cell_.topology.shards = std::move(shards);
    ++cell_.topology.version;
    return {true, cell_.topology.version};
  }

  FakeCell& cell_;
  const std::string name_;
};

}  // namespace morula
