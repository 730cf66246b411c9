#include "sim/clients/client_workload.hpp"

#include "sim/clients/lifetime.hpp"
#include "sim/scenario/simulation.hpp"

namespace morula::sim {

namespace {

// After the last fault: the longest lease, its margin, and a takeover at a slow store, twice.
constexpr Duration kServedWithin = std::chrono::seconds(120);

void tell_trace(Simulation& simulation, Client& client, const std::string& name) {
  SimTrace& trace = simulation.world().trace();
  if (!trace.wants_lines()) return;
  client.tell_to([&trace, name](const std::string& line) { trace.line(name, line); });
}

}  // namespace

void ClientWorkload::setup(Simulation& simulation) {
  checks_.emplace(simulation.world());
  const Plan& plan = simulation.plan();
  if (plan.clocks_within_bound()) checks_->watch_leases();
  std::vector<const MachineClock*> clocks;
  for (InstanceHost& host : simulation.hosts()) clocks.push_back(&host.process().clock());
  if (!clocks.empty()) checks_->watch_walls(std::move(clocks));
  Random random = simulation.world().random().fork();
  std::vector<std::string> shared;
  for (uint32_t i = 0; i < plan.streams; ++i) {
    std::string path =
        "shared/" + lifetime_folder(random, plan.mortal_percent) + std::to_string(i + 1);
    // A path with an escape, and the same path of two tenants.
    if (random.chance(1, 6)) path = "shared/with%20space/" + std::to_string(i + 1);
    if (random.chance(1, 6)) path.insert(0, "tenant-" + std::to_string(random.below(2)) + ":");
    shared.push_back(std::move(path));
  }
  for (uint32_t i = 0; i < plan.clients; ++i) add_client(simulation, shared, random);
}

void ClientWorkload::add_client(Simulation& simulation, const std::vector<std::string>& shared,
                                Random& random) {
  const Plan& plan = simulation.plan();
  auto number = static_cast<uint32_t>(clients_.size());
  std::vector<std::string> paths = shared;
  if (random.chance(1, 2)) {
    paths.push_back("private/" + lifetime_folder(random, plan.mortal_percent) +
                    std::to_string(number + 1));
  }
  Client& client = clients_.emplace_back(
      number + 1, simulation.addresses(), std::move(paths),
      ClientHabits::draw(random, plan.client_pause, plan.clients_delete), checks_->observer());
  tell_trace(simulation, client, plan.client_name(number));
  ProcessOptions options;
  options.name = plan.client_name(number);
  options.machine = 1000 + number;
  simulation.world().add(options, [&client, &simulation](const Env& env) {
    client.run(env, [&simulation] { return simulation.active(); });
  });
}

void ClientWorkload::heal(Simulation& /*simulation*/) {
  checks_->observer().healed(kServedWithin);
}

std::string ClientWorkload::awaited(Simulation& simulation) {
  checks_->judge();
  for (const Client& client : clients_) {
    if (!client.done()) return "a client has not finished";
  }
  if (!reader_) {
    ClientHabits habits;
    reader_.emplace(static_cast<uint32_t>(clients_.size()) + 1, simulation.addresses(),
                    checks_->observer().paths(), habits, checks_->observer());
    tell_trace(simulation, *reader_, "reader");
    ProcessOptions options;
    options.name = "reader";
    options.machine = 999;
    simulation.world().add(options, [this](const Env& env) { reader_->read_all(env); });
  }
  return reader_->done() ? "" : "not every stream could be read to its end";
}

void ClientWorkload::check(Simulation& /*simulation*/) {
  checks_->observer().finish();
  checks_->judge();
}

uint64_t ClientWorkload::operations() const {
  uint64_t sum = reader_ ? reader_->operations() : 0;
  for (const Client& client : clients_) sum += client.operations();
  return sum;
}

}  // namespace morula::sim
