#include "sim/scenario/operator_workload.hpp"

#include <algorithm>

#include "core/cell/handoff_messages.hpp"
#include "core/fleet/member.hpp"
#include "core/lsm/manifest.hpp"
#include "core/store/keys.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

/// A manifest that the topology names and that is sealed, so that its owner can neither flush nor
/// compact.
struct Sealed {
  std::string key;
  IncarnationId owner;
  IncarnationId by;
};

/// Of the shards of `owner`; null: of all.
std::vector<Sealed> all_sealed(const SimStore& store, const std::string* owner) {
  std::vector<Sealed> sealed;
  const Blob body = store.peek(keys::kTopology);
  if (!body) return sealed;
  const auto topology = decode_topology(*body);
  if (!topology) return sealed;
  for (const TopologyShard& row : topology->shards) {
    if (owner != nullptr && row.owner.name != *owner) continue;
    const Blob named = store.peek(row.manifest);
    const auto manifest = named ? decode_manifest(*named) : fail(ErrorCode::kNotFound, "");
    if (manifest && manifest->sealed) sealed.push_back({row.manifest, row.owner, manifest->writer});
  }
  return sealed;
}

bool is_live(const SimStore& store, const IncarnationId& incarnation) {
  const Blob body = store.peek(keys::member(incarnation.name));
  const auto member = body ? decode_member(*body) : fail(ErrorCode::kNotFound, "");
  return member && member->incarnation == incarnation && member->state == MemberState::kLive;
}

bool is_change(const HttpRequest& request) {
  return request.method == "POST" && request.target.starts_with("/v1/cell/");
}

}  // namespace

void OperatorWorkload::setup(Simulation& simulation) {
  const uint32_t count = simulation.plan().operators.count;
  if (count == 0 && !simulation.plan().operators.watched) return;
  simulation_ = &simulation;
  simulation.world().trace().add_observer(*this);
  for (uint32_t i = 0; i < count; ++i) add_operator(simulation);
}

void OperatorWorkload::add_operator(Simulation& simulation) {
  const Plan& plan = simulation.plan();
  std::vector<std::string> names;
  for (uint32_t i = 0; i < plan.instances; ++i) names.push_back(plan.instance_name(i));
  CellOperator& person =
      operators_.emplace_back(simulation.addresses(), std::move(names), plan.operators);
  person.now = [this] { return answers_.latest(); };
  person.on_done = [this, &simulation](const CellStep& step, const Changed& answer,
                                       Version asked_at) {
    const std::string wrong = answers_.wrong_with(step, answer, asked_at);
    if (!wrong.empty()) simulation.world().fail("16", wrong);
  };
  person.on_unexpected = [&simulation](const std::string& what) {
    simulation.world().fail("16", what);
  };
  ProcessOptions options;
  options.name = "o" + std::to_string(operators_.size());
  options.machine = 900 + static_cast<uint32_t>(operators_.size());
  simulation.world().add(options, [&person, &simulation](const Env& env) {
    person.run(env, [&simulation] { return simulation.active(); });
  });
}

void OperatorWorkload::on_store_changed(const StoreRequest& /*request*/, std::string_view key,
                                        const Blob& body) {
  if (key != keys::kTopology || !body) return;
  if (auto topology = decode_topology(*body)) answers_.written(*std::move(topology));
}

void OperatorWorkload::on_log(const Life& by, Severity /*severity*/, std::string_view event,
                              std::initializer_list<LogField> /*fields*/) {
  if (event == "ending") ending_.insert(by.process);
  if (event == "joined") ending_.erase(by.process);
}

void OperatorWorkload::on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) {
  if (is_change(request)) under_way_[number] = at;
}

void OperatorWorkload::on_ended(const Life& life) {
  std::erase_if(under_way_, [&](const auto& call) { return call.second == life.process; });
}

void OperatorWorkload::on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                                        const HttpResponse* response) {
  if (under_way_.erase(number) == 0 || response == nullptr) return;
  if (request.target == kAcceptPath) check_accepted(request, *response);
  if (ending_.contains(at)) return;  // it gives its shards away by itself
  const bool busy =
      std::ranges::any_of(under_way_, [&](const auto& call) { return call.second == at; });
  if (busy) return;
  const SimStore& store = simulation_->world().store();
  const std::string& name = simulation_->world().processes()[at].name();
  for (const Sealed& sealed : all_sealed(store, &name)) {
    if (sealed.by != sealed.owner || !is_live(store, sealed.owner)) continue;
    simulation_->world().fail("R", name + " has answered " + request.target + " " + request.body +
                                       " and left " + sealed.key + " sealed (R5, Reopen)");
  }
}

/// Once the topology has moved on, the attempt has failed, and what was promised may be forgotten.
void OperatorWorkload::check_accepted(const HttpRequest& request, const HttpResponse& response) {
  const auto asked = decode_accept(request.body);
  const auto from = decode_accepted(response.body);
  if (response.status != 200 || !asked || !from || asked->topology != answers_.latest()) return;
  const auto first = accepted_.emplace(asked->attempt, *from).first;
  if (first->second == *from) return;
  simulation_->world().fail("R", "asked twice in an attempt, " + asked->to.text() + " promised " +
                                     std::to_string(first->second.value) + " and then " +
                                     std::to_string(from->value) + " of its log (R4)");
}

std::string OperatorWorkload::awaited(Simulation& simulation) {
  for (const CellOperator& person : operators_) {
    if (!person.done()) return "an operator has not been answered";
  }
  if (!all_open_) {
    const auto sealed = all_sealed(simulation.world().store(), nullptr);
    if (!sealed.empty()) return sealed.front().key + " is still sealed";
    all_open_ = true;
  }
  return {};
}

uint64_t OperatorWorkload::operations() const {
  uint64_t sum = 0;
  for (const CellOperator& person : operators_) sum += person.operations();
  return sum;
}

}  // namespace morula::sim
