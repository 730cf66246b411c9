#include "invariants/spec/topology.hpp"

#include <array>

#include "invariants/spec/switches.hpp"

namespace morula::spec {

namespace {

using Action = Topology::Action;

constexpr auto kSwitches = std::to_array<std::string_view>({
#define MORULA_SWITCH_NAME(name) #name,
    MORULA_TOPOLOGY_SWITCHES(MORULA_SWITCH_NAME)
#undef MORULA_SWITCH_NAME
});

constexpr auto kActions = std::to_array<std::string_view>({
#define MORULA_ACTION_NAME(name, function, what) #name,
    MORULA_TOPOLOGY_ACTIONS(MORULA_ACTION_NAME)
#undef MORULA_ACTION_NAME
});

}  // namespace

std::span<const std::string_view> Topology::actions() {
  return kActions;
}

std::span<const std::string_view> Topology::switches() {
  return kSwitches;
}

Result<Topology> Topology::configured(const ModelConfig& config) {
  using Kind = ModelConfig::Kind;
  MORULA_TRY(config.has_exactly({{"Incs", Kind::kNumbers},
                                 {"MaxSeq", Kind::kNumber},
                                 {"MaxRec", Kind::kNumber},
                                 {"MaxTake", Kind::kNumber},
                                 {"MaxHand", Kind::kNumber},
                                 {"MaxSplit", Kind::kNumber},
                                 {"MaxMerge", Kind::kNumber},
                                 {"MaxReopen", Kind::kNumber},
                                 {"MaxFlush", Kind::kNumber},
                                 {"MaxComp", Kind::kNumber},
                                 {"MaxGC", Kind::kNumber},
                                 {"InitSplit", Kind::kBoolean},
                                 {"OwnR", Kind::kNumber},
                                 {"Own0", Kind::kNumber},
                                 {"Own1", Kind::kNumber},
                                 {"WPoints", Kind::kNumbers},
                                 {"Mut", Kind::kStrings}}));
  const auto incarnations = first_numbers(config.numbers("Incs"), "Incs");
  MORULA_TRY(incarnations);
  const auto switches = switches_of(config.strings("Mut"), kSwitches);
  MORULA_TRY(switches);

  Constants c;
  c.incarnations = *incarnations;
  c.starts_split = config.boolean("InitSplit");
  c.root_owner = config.number("OwnR");
  c.left_owner = config.number("Own0");
  c.right_owner = config.number("Own1");
  // The owners of shards that it does not begin with say nothing.
  const std::vector<int> owners =
      c.starts_split ? std::vector{c.left_owner, c.right_owner} : std::vector{c.root_owner};
  for (const int owner : owners) {
    if (owner < 1 || owner > c.incarnations) {
      return fail(ErrorCode::kInvalid, "OwnR, Own0, Own1: who?");
    }
  }
  for (const int point : config.numbers("WPoints")) {
    if (point < 0 || point > 1) return fail(ErrorCode::kInvalid, "WPoints: of {0, 1}");
    c.written.insert(point);
  }
  c.max_seq = config.number("MaxSeq");
  c.max_records = config.number("MaxRec");
  c.max_takeovers = config.number("MaxTake");
  c.max_handoffs = config.number("MaxHand");
  c.max_splits = config.number("MaxSplit");
  c.max_merges = config.number("MaxMerge");
  c.max_reopens = config.number("MaxReopen");
  c.max_flushes = config.number("MaxFlush");
  c.max_compactions = config.number("MaxComp");
  c.max_collections = config.number("MaxGC");
  c.switches = *switches;
  return Topology(std::move(c));
}

TopologyState Topology::initial() const {
  State s;
  s.incarnations.resize(static_cast<size_t>(c_.incarnations));
  for (TopologyIncarnation& i : s.incarnations) i.highest.resize(static_cast<size_t>(points()));
  s.last.resize(static_cast<size_t>(points()));
  const auto add = [&](const HashPrefix& prefix, int owner) {
    s.manifests.push_back({0, false, {}, {{prefix, owner, 0, kOpen}}, 0});
    const int key = static_cast<int>(s.manifests.size());
    s.rows.insert({prefix, 0, owner, key, {owner}});
    s.of(owner).serves.insert({prefix, key});
  };
  const HashPrefix root;
  if (c_.starts_split) {
    add(root.child(0), c_.left_owner);
    add(root.child(1), c_.right_owner);
  } else {
    add(root, c_.root_owner);
  }
  return s;
}

bool Topology::apply(const State& now, const Step& step, State* after) const {
  switch (step.action) {
#define MORULA_ACTION_CASE(name, function, what) \
  case Action::k##name:                          \
    return function(now, step, after);
    MORULA_TOPOLOGY_ACTIONS(MORULA_ACTION_CASE)
#undef MORULA_ACTION_CASE
  }
  return false;
}

void Topology::each_step(const State& now, const std::function<void(const Step&)>& call) const {
  for (int i = 1; i <= now.incarnation_count(); ++i) {
    for (const int point : c_.written) {
      for (const bool deleted : {false, true}) {
        call(
            {.action = Action::kAcknowledge, .incarnation = i, .point = point, .deleted = deleted});
      }
    }
    for (const ServedPrefix& served : now.of(i).serves) {
      call({.action = Action::kFlush, .incarnation = i, .prefix = served.prefix});
      if (now.counts.compactions >= c_.max_compactions) continue;
      for (auto& tables : subsets_of(now.manifest(served.key).tables)) {
        call({.action = Action::kCompact,
              .incarnation = i,
              .prefix = served.prefix,
              .tables = std::move(tables)});
      }
    }
    for (const Action action : {Action::kTrim, Action::kFence, Action::kReplay}) {
      call({.action = action, .incarnation = i});
    }
  }
  each_transfer_step(now, call);
  for (int n = 0; n < now.manifest_requests.size(); ++n) {
    call({.action = Action::kLandManifest, .request = n});
  }
  for (int n = 0; n < now.topology_requests.size(); ++n) {
    call({.action = Action::kPublish, .request = n});
  }
  for (const Action action : {Action::kCollectList, Action::kCollectReadTopology,
                              Action::kCollectReadManifests, Action::kCollect}) {
    call({.action = action});
  }
}

void Topology::each_transfer_step(const State& now,
                                  const std::function<void(const Step&)>& call) const {
  for (int i = 1; i <= now.incarnation_count(); ++i) {
    for (const PrefixRow& row : now.rows) {
      call({.action = Action::kAdopt, .incarnation = i, .prefix = row.prefix});
      call({.action = Action::kReopen, .incarnation = i, .prefix = row.prefix});
    }
    for (const ServedPrefix& served : now.of(i).serves) {
      const HashPrefix& prefix = served.prefix;
      call({.action = Action::kSplit, .incarnation = i, .prefix = prefix});
      if (prefix.length > 0 && prefix.bits % 2 == 0) {
        const HashPrefix parent{prefix.length - 1, prefix.bits / 2};
        call({.action = Action::kMerge, .incarnation = i, .prefix = parent});
      }
      for (int j = 1; j <= now.incarnation_count(); ++j) {
        call({.action = Action::kAccept, .incarnation = i, .other = j, .prefix = prefix});
      }
    }
    for (const Action action : {Action::kAdoptBoth, Action::kHandOff, Action::kHandAbort}) {
      call({.action = action, .incarnation = i});
    }
  }
}

std::string Topology::describe(const Step& step) {
  std::string text(kActions[static_cast<size_t>(step.action)]);
  const auto add = [&](const char* name, const std::string& value) {
    text += std::string(" ") + name + "=" + value;
  };
  const auto prefix_text = [](const HashPrefix& prefix) {
    std::string bits = prefix.length == 0 ? "r" : "";
    for (int n = prefix.length; n-- > 0;) bits += (prefix.bits >> n & 1) != 0 ? '1' : '0';
    return bits;
  };
  if (step.incarnation != 0) add("incarnation", std::to_string(step.incarnation));
  if (step.other != 0) add("other", std::to_string(step.other));
  if (step.action == Action::kAcknowledge) {
    add("point", std::to_string(step.point));
    if (step.deleted) text += " deleted";
  } else if (step.action == Action::kLandManifest || step.action == Action::kPublish) {
    add("request", std::to_string(step.request));
  } else if (step.incarnation != 0) {
    add("prefix", prefix_text(step.prefix));
  }
  for (const ClippedTable& table : step.tables) {
    add("table", std::to_string(table.id) + "/" + prefix_text(table.clip));
  }
  return text;
}

}  // namespace morula::spec
