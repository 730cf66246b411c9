#include "tests/e2e/storm/storm.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/rt/fiber.hpp"
#include "sim/clients/cell_operator.hpp"
#include "sim/clients/lifetime.hpp"

namespace morula::storm {

namespace {

constexpr uint32_t kMortalPercent = 15;
// After the last fault a cell of live instances serves everything again within it.
constexpr Duration kServedWithin = std::chrono::seconds(120);
constexpr Duration kLook = std::chrono::milliseconds(50);

}  // namespace

Storm::Storm(Loop& loop, StormOptions options)
    : loop_(loop),
      options_(std::move(options)),
      begun_(loop.now()),
      random_(options_.seed),
      observer_([this] { return loop_.now() - begun_; }, nothing_),
      curl_(loop, CurlClientConfig{}),
      network_(loop, curl_, options_.lie, options_.seed) {
  observer_.sees_clients_only();
  // One machine, one wall clock.
  observer_.watch_walls([this] {
    return invariants::WallClocks::Reading{loop_.wall(), loop_.wall()};
  });
}

Env Storm::env(Random& random) {
  return {loop_.domain(), loop_, network_, store_, random, compute_, platform_, places_};
}

void Storm::calm() {
  if (std::exchange(calm_, true)) return;
  network_.be_patient();
  observer_.healed(kServedWithin);
}

size_t Storm::round_now() const {
  return static_cast<size_t>((loop_.now() - begun_) / options_.round);
}

std::vector<std::string> Storm::draw_paths(size_t round, Random& random) {
  while (rounds_.size() <= round) {
    std::vector<std::string>& paths = rounds_.emplace_back();
    for (uint32_t i = 0; i < options_.streams; ++i) {
      paths.push_back(fmt::format("{}-{}:shared/{}{}", options_.tenant, rounds_.size(),
                                  sim::lifetime_folder(random_, kMortalPercent), i + 1));
    }
  }
  std::vector<std::string> paths = rounds_[round];
  if (round > 0) {
    const auto& earlier = rounds_[random.below(round)];
    paths.push_back(earlier[random.below(earlier.size())]);
  }
  return paths;
}

sim::ClientHabits Storm::draw_habits(Random& random) const {
  sim::ClientHabits habits = sim::ClientHabits::draw(random, options_.pause, random.chance(1, 4));
  // Patient readers, whose questions wait at an instance that sleeps until it wakes.
  if (random.chance(1, 3)) {
    habits.reads = 60;
    habits.heads = 20;
    habits.timeout = std::chrono::seconds(15);
  }
  return habits;
}

void Storm::work(Random random) {
  while (active()) {
    const size_t round = round_now();
    const sim::ClientHabits habits = draw_habits(random);
    sim::Client client(++clients_, options_.urls, draw_paths(round, random), habits, observer_);
    client.run(env(random), [&] { return active() && round_now() == round; });
  }
}

void Storm::operate(Random random) {
  sim::OperatorHabits habits;
  habits.relocations = 1;
  habits.two_at_once = 2;
  sim::CellOperator person(options_.urls, options_.names, habits);
  person.now = [] { return Version(0); };
  person.on_done = [this](const CellStep& step, const Changed& answer, Version) {
    if (answer.changed) changes_.add(step.kind);
  };
  person.on_unexpected = [this](const std::string& what) { observer_.unexpected(what); };
  person.run(env(random), [this] { return active(); });
}

void Storm::read_everything() {
  Random random = random_.fork();
  sim::Client reader(++clients_, options_.urls, observer_.paths(), {}, observer_);
  reader.read_all(env(random));
}

void Storm::run() {
  with_scope(loop_.domain(), [&](Scope& scope) {
    bool done = false;
    scope.spawn("storm", [&] {
      with_scope(loop_.domain(), [&](Scope& people) {
        for (uint32_t i = 0; i < options_.workers; ++i) {
          people.spawn("worker", [this, random = random_.fork()] { work(random); });
        }
        for (uint32_t i = 0; i < options_.operators; ++i) {
          people.spawn("operator", [this, random = random_.fork()] { operate(random); });
        }
        people.join();
      });
      read_everything();
      done = true;
    });
    while (active()) loop_.sleep(kLook);
    const Time give_up = loop_.now() + options_.settle_max;
    while (!done && loop_.now() < give_up) loop_.sleep(kLook);
    if (!done)
      observer_.unexpected("not every operation was settled, and every stream read, in time");
  });
  observer_.finish();
}

std::string Storm::progress() const {
  const invariants::History& history = observer_.history();
  const Tally sum = tally(history);
  return fmt::format(
      "{} s{}: {} operations, {} appends acknowledged, {} uncertain, {}, {} violations",
      (loop_.now() - begun_) / std::chrono::seconds(1), calm_ ? ", calm" : "", sum.operations,
      sum.appends_acknowledged, sum.uncertain_count(), changes_.text(),
      observer_.verdict().count());
}

}  // namespace morula::storm
