// Feeds the invariants with what happens in a world, and fails the world with what they find.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "invariants/observer.hpp"
#include "sim/world/world.hpp"

namespace morula::sim {

/// Of one world, which outlives it.
class Checks final : public Observer {
 public:
  explicit Checks(World& world);
  ~Checks() override;
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  invariants::Observer& observer() { return observer_; }
  /// Leases too: the rates of the clocks stay within what their margin is good for.
  void watch_leases();
  /// And the ends of streams with a deadline, by the wall clocks of these, which outlive this.
  void watch_walls(std::vector<const MachineClock*> clocks);
  /// Fails the world if something has been found wrong. Called after every event that is fed here;
  /// whoever feeds the observer itself calls it after that.
  void judge();

  void on_step(const Life& by, const StepEvent& event) override;
  void on_log(const Life& by, Severity severity, std::string_view event,
              std::initializer_list<LogField> fields) override;
  void on_store_sent(const StoreRequest& request) override;
  void on_store_changed(const StoreRequest& request, std::string_view key,
                        const Blob& body) override;
  void on_bit_flipped(const StoreRequest& request) override;
  void on_started(const Life& life) override;
  void on_ended(const Life& life) override;
  void on_paused(const Life& life) override;
  void on_resumed(const Life& life) override;
  void on_wall_set() override { observer_.look_at_walls(); }
  void on_call_arrived(ProcessId at, uint64_t number, const HttpRequest& request) override;
  void on_call_answered(ProcessId at, uint64_t number, const HttpRequest& request,
                        const HttpResponse* response) override;

 private:
  class Bucket final : public invariants::ObjectView {
   public:
    explicit Bucket(const SimStore& store) : store_(store) {}
    const std::string* find(std::string_view key) const override;

   private:
    const SimStore& store_;
  };

  std::string_view name_of(ProcessId process) const { return world_.trace().process_name(process); }
  /// The call that the running fiber handles; 0 when it handles none.
  invariants::HandlerId handler() const;

  World& world_;
  Bucket bucket_;
  invariants::Observer observer_;
  std::map<const void*, uint64_t> handlers_;  // calls by fiber; only for look-up
  std::map<uint64_t, const void*> fibers_;    // and back
};

}  // namespace morula::sim
