// storm_client: clients and operators of a real cell, judged by what judges a simulation.
//
//   storm_client --url URL... --name NAME... [--seed N] [--tenant NAME] [--workers N]
//                [--operators N] [--pause MS] [--report FILE] [--lie loses|doubles]
//
// Works until SIGTERM says that all faults are over; then settles what is open, reads every stream
// from its start, and judges. Tells now and then how far it is. The last line is `ok ...` or
// `WRONG ...`; exit code 0 or 1. FILE gets the whole history of each stream that something is wrong
// with.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <string>

#include "core/rt/fiber.hpp"
#include "prod/loop.hpp"
#include "tests/e2e/storm/storm.hpp"

namespace morula::storm {
namespace {

struct Arguments {
  StormOptions storm;
  int64_t pause_ms = 40;
  std::string lie;
  std::string report;
};

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void tell_progress(Loop& loop, const Storm& storm) {
  for (size_t told = 0;;) {
    print(storm.progress() + "\n");
    const auto& violations = storm.observer().verdict().kept();
    for (; told < violations.size(); ++told) print(to_string(violations[told]) + "\n");
    loop.sleep(std::chrono::seconds(5));
  }
}

bool report(const Storm& storm, const std::string& file) {
  const invariants::Violations& verdict = storm.observer().verdict();
  const Tally sum = tally(storm.observer().history());
  print(sum.text() + storm.changes().text() + "\n");
  for (const auto& [place, count] : storm.places().reached()) {
    print(std::to_string(count) + " x " + place + "\n");
  }
  print(std::to_string(storm.network().hung_up()) + " x a client hung up\n");
  if (storm.network().lies() > 0) print(std::to_string(storm.network().lies()) + " lies\n");
  for (const auto& violation : verdict.kept()) print(to_string(violation) + "\n");
  if (!file.empty() && !verdict.empty()) std::ofstream(file) << histories_of(storm.observer());
  print((verdict.empty() ? "ok " : "WRONG ") + std::to_string(sum.operations) + " operations, " +
        std::to_string(sum.appends_acknowledged) + " appends acknowledged, " +
        std::to_string(sum.uncertain_count()) + " uncertain, " + storm.changes().text() + ", " +
        std::to_string(verdict.count()) + " violations\n");
  return verdict.empty();
}

int run(const Arguments& arguments) {
  ::signal(SIGPIPE, SIG_IGN);
  Loop loop;
  bool held = false;
  loop.run_fiber("storm", [&] {
    Storm storm(loop, arguments.storm);
    loop.on_signals({SIGTERM, SIGINT}, [&](int) { storm.calm(); });
    with_scope(loop.domain(), [&](Scope& scope) {
      scope.spawn("progress", [&] { tell_progress(loop, storm); });
      storm.run();
    });
    held = report(storm, arguments.report);
  });
  return held ? 0 : 1;
}

}  // namespace
}  // namespace morula::storm

// NOLINTNEXTLINE(bugprone-exception-escape): the runtime says what it was, and it is our bug
int main(int argc, char** argv) {
  morula::storm::Arguments arguments;
  CLI::App app("Clients and operators of a real cell, judged by what judges a simulation");
  app.add_option("--url", arguments.storm.urls, "An instance")->required();
  app.add_option("--name", arguments.storm.names, "An instance's name")->required();
  app.add_option("--seed", arguments.storm.seed, "What they ask for is drawn from it");
  app.add_option("--workers", arguments.storm.workers, "Clients at a time");
  app.add_option("--tenant", arguments.storm.tenant, "What its tenants' names begin with");
  app.add_option("--operators", arguments.storm.operators, "Who split, merge and move shards");
  app.add_option("--pause", arguments.pause_ms, "Of a client between two operations, in ms");
  app.add_option("--report", arguments.report, "Where the histories of broken streams go");
  app.add_option("--lie", arguments.lie, "Falsify some answers: loses or doubles");
  CLI11_PARSE(app, argc, argv);
  const auto lie = morula::storm::parse_lie(arguments.lie);
  if (!lie) {
    std::fprintf(stderr, "storm_client: --lie is loses or doubles\n");
    return 2;
  }
  arguments.storm.lie = *lie;
  arguments.storm.pause = std::chrono::milliseconds(arguments.pause_ms);
  return morula::storm::run(arguments);
}
