#include "sim/scenario/instance_host.hpp"

#include <optional>

#include "core/cell/instance.hpp"
#include "sim/scenario/budgeted_network.hpp"

namespace morula::sim {

namespace {

// Memtables as small as those of simulations are mostly chunks that were only begun, and replay and
// ends of streams can't be refused.
constexpr uint64_t kBegunChunks = 64 * kKiB;
constexpr Duration kAfterError = std::chrono::seconds(1);

/// Names the instance that runs, until it is destroyed or its fibers unwind.
class Named {
 public:
  Named(Instance*& place, Instance& instance) : place_(place), instance_(instance) {
    place_ = &instance;
  }
  ~Named() {
    if (place_ == &instance_) place_ = nullptr;
  }
  Named(const Named&) = delete;
  Named& operator=(const Named&) = delete;

 private:
  Instance*& place_;
  Instance& instance_;
};

}  // namespace

/// The budget of one process, looked at when it ends.
class InstanceHost::Accounts {
 public:
  explicit Accounts(InstanceHost& host) : host_(host), memory(host.memory_config_.shares) {
    host_.memory_ = &memory;
  }
  ~Accounts() {
    if (host_.memory_trouble_.empty()) host_.memory_trouble_ = trouble(memory, 0);
    host_.memory_ = nullptr;
  }
  Accounts(const Accounts&) = delete;
  Accounts& operator=(const Accounts&) = delete;

  /// `memtable_bytes`: what is in memtables.
  static std::string trouble(const MemoryBudget& memory, uint64_t memtable_bytes) {
    if (memory.memory.peak() > memory.memory.limit()) {
      return "accounted for " + std::to_string(memory.memory.peak()) + " bytes of " +
             std::to_string(memory.memory.limit());
    }
    if (memory.memtables.peak() > memory.memtables.limit() + kBegunChunks) {
      return "memtables took " + std::to_string(memory.memtables.peak()) + " bytes of " +
             std::to_string(memory.memtables.limit());
    }
    if (memory.memtables.used() != memtable_bytes) {
      return std::to_string(memtable_bytes) + " bytes of memtables are accounted for as " +
             std::to_string(memory.memtables.used());
    }
    for (const MemoryAccount* account : {&memory.bodies, &memory.reads, &memory.requests}) {
      if (account->used() > 0) return account->name() + " are reserved that nobody has";
    }
    return {};
  }

 private:
  InstanceHost& host_;

 public:
  MemoryBudget memory;
};

InstanceHost::InstanceHost(World& world, const ProcessOptions& options, InstanceConfig config,
                           const HostMemory& memory)
    : world_(world), config_(std::move(config)), memory_config_(memory) {
  config_.name = options.name;
  process_ = &world.add(options, [this](const Env& env) { run(env); });
}

void InstanceHost::give_disk(const SimDiskManners& manners, Random random) {
  disk_ = std::make_unique<SimDisk>(
      manners, random, [this](const std::string& what) { world_.fail("second tier", what); });
}

void InstanceHost::run(const Env& outside) {
  Accounts accounts(*this);
  BudgetedNetwork network(outside.network, accounts.memory, memory_config_.resident_percent);
  const Env env{outside.domain, outside.clock,   network,          outside.store,
                outside.random, outside.compute, outside.platform, outside.trace};
  InstanceConfig config = config_;
  std::optional<SimSecondTier> tier;
  if (disk_) config.second_tier = &tier.emplace(*disk_, env.clock);
  while (true) {
    Instance instance(env, config, accounts.memory);
    auto ended = [&] {
      const Named named(instance_, instance);
      return instance.run();
    }();
    if (!ended) {
      last_error_ = ended.error().message;
      env.trace.log(Severity::kWarning, "instance_failed", {{"error", last_error_}});
      env.clock.sleep(kAfterError);
      continue;
    }
    last_error_.clear();
    if (*ended == Instance::Ended::kStopped) return;
  }
}

std::string InstanceHost::memory_trouble() const {
  if (!memory_trouble_.empty() || memory_ == nullptr) return memory_trouble_;
  const uint64_t memtables =
      instance_ == nullptr ? 0 : instance_->figures().shards.sums.memtable_bytes;
  return Accounts::trouble(*memory_, memtables);
}

void InstanceHost::retire() {
  retired_ = true;
  process_->kill();
}

void InstanceHost::revive() {
  if (retired_) return;
  if (!process_->alive()) {
    process_->start();
  } else {
    process_->resume();
  }
}

void InstanceHost::request_stop() {
  if (process_->alive() && !process_->paused() && instance_ != nullptr) instance_->request_stop();
}

bool InstanceHost::ready() const {
  return process_->alive() && !process_->paused() && instance_ != nullptr && instance_->ready();
}

}  // namespace morula::sim
