#include "sim/scenario/instance_host.hpp"

#include "core/cell/instance.hpp"

namespace morula::sim {

namespace {

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

InstanceHost::InstanceHost(World& world, const ProcessOptions& options, InstanceConfig config)
    : config_(std::move(config)) {
  config_.name = options.name;
  process_ = &world.add(options, [this](const Env& env) { run(env); });
}

void InstanceHost::run(const Env& env) {
  while (true) {
    Instance instance(env, config_);
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

void InstanceHost::revive() {
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
