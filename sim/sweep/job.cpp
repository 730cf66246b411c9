#include "sim/sweep/job.hpp"

#include <array>
#include <charconv>
#include <ctime>

#include "core/base/json.hpp"
#include "sim/scenario/scenario.hpp"

namespace morula::sim {

namespace {

struct MutantRow {
  std::string_view name;
  std::string_view rule;
};

constexpr MutantRow kMutants[] = {{"none", "no rule is broken"},
#define MORULA_MUTANT_ROW(name, rule) {#name, rule},
                                  MORULA_MUTANT_LIST(MORULA_MUTANT_ROW)
#undef MORULA_MUTANT_ROW
};

constexpr std::string_view kVerdicts[] = {"held", "failed", "expected"};

std::string hex(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

/// Details quote what was read, which may be any bytes; JSON is text.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c != '\n' && (c < ' ' || c > '~')) c = '?';
  }
  return text;
}

Json job_json(const Job& job) {
  return Json::Object{{"scenario", job.scenario},
                      {"seed", job.seed},
                      {"mutant", std::string(mutant_name(job.mutant))},
                      {"twice", job.twice}};
}

Result<Job> job_of(const Json& json) {
  Job job;
  auto scenario = json.string_at("scenario");
  MORULA_TRY(scenario);
  auto seed = json.u64_at("seed");
  MORULA_TRY(seed);
  auto name = json.string_at("mutant");
  MORULA_TRY(name);
  auto mutant = find_mutant(*name);
  MORULA_TRY(mutant);
  auto twice = json.bool_at("twice");
  MORULA_TRY(twice);
  return Job{std::move(*scenario), *seed, *mutant, *twice};
}

Json::Object numbers_json(const std::map<std::string, uint64_t>& numbers) {
  Json::Object object;
  for (const auto& [name, number] : numbers) object.emplace(name, number);
  return object;
}

void read_numbers(const Json& json, std::string_view name, std::map<std::string, uint64_t>& out) {
  const Json* object = json.find(name);
  if (object == nullptr || object->as_object() == nullptr) return;
  for (const auto& [key, value] : *object->as_object()) {
    if (value.as_u64() != nullptr) out[key] = *value.as_u64();
  }
}

Result<> read_u64(const Json& json, std::string_view name, uint64_t& out) {
  auto value = json.u64_at(name);
  MORULA_TRY(value);
  out = *value;
  return {};
}

SeedReport simulate(const Scenario& scenario, uint64_t seed, const SimTrace::LineSink& lines,
                    bool detail) {
  Simulation simulation(scenario, seed);
  if (lines) simulation.world().trace().set_line_sink(lines, detail);
  return simulation.run();
}

void fail_result(JobResult& result, std::string rule, std::string detail) {
  result.verdict = Verdict::kFailed;
  result.rule = std::move(rule);
  result.detail = std::move(detail);
}

}  // namespace

uint64_t cpu_time_us() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 +
         static_cast<uint64_t>(time.tv_nsec) / 1000;
}

JobResult to_result(const Job& job, const SeedReport& report) {
  JobResult result;
  result.job = job;
  result.hash = report.hash;
  if (report.failure) {
    result.verdict = report.failure_is_expected ? Verdict::kExpected : Verdict::kFailed;
    result.rule = report.failure->rule;
    result.detail = report.failure->detail;
    result.failed_at_us =
        static_cast<uint64_t>(report.failure->at.time_since_epoch().count()) / 1000;
  }
  result.virtual_us = static_cast<uint64_t>(report.virtual_time.count()) / 1000;
  result.operations = report.operations;
  result.store_requests = report.store_requests;
  result.purposes = report.purposes;
  result.calls = report.calls;
  result.switches = report.switches;
  for (size_t i = 0; i < kFaults; ++i) {
    if (report.faults.at(i) > 0) result.faults.emplace(kFaultNames[i], report.faults.at(i));
  }
  result.steps = report.steps;
  result.pairs = report.pairs;
  result.places = report.places;
  return result;
}

std::string_view mutant_name(Mutant mutant) {
  return kMutants[static_cast<size_t>(mutant)].name;
}

std::string_view mutant_rule(Mutant mutant) {
  return kMutants[static_cast<size_t>(mutant)].rule;
}

Result<Mutant> find_mutant(std::string_view name) {
  for (size_t i = 0; i < std::size(kMutants); ++i) {
    if (kMutants[i].name == name) return static_cast<Mutant>(i);
  }
  return fail(ErrorCode::kInvalid,
              "there is no mutant \"" + std::string(name) + "\": see `morula-sim mutants --list`");
}

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> all;
  for (size_t i = 1; i < std::size(kMutants); ++i) all.push_back(static_cast<Mutant>(i));
  return all;
}

std::string_view to_string(Verdict verdict) {
  return kVerdicts[static_cast<size_t>(verdict)];
}

std::string Job::encode() const {
  return job_json(*this).compact();
}

Result<Job> Job::decode(std::string_view line) {
  auto json = Json::parse(line);
  MORULA_TRY(json);
  return job_of(*json);
}

std::string Job::command() const {
  std::string command = "morula-sim run --scenario " + scenario + " --seed " + std::to_string(seed);
  if (mutant != Mutant::none) command.append(" --mutant ").append(mutant_name(mutant));
  if (twice) command += " --twice";
  return command;
}

std::string JobResult::encode() const {
  Json::Object object = *job_json(job).as_object();
  object.emplace("verdict", std::string(to_string(verdict)));
  object.emplace("hash", hex(hash));
  if (!rule.empty()) {
    object.emplace("rule", rule);
    object.emplace("detail", printable(detail));
    object.emplace("failed_at_us", failed_at_us);
  }
  object.emplace("virtual_us", virtual_us);
  object.emplace("cpu_us", cpu_us);
  object.emplace("operations", operations);
  object.emplace("store_requests", store_requests);
  object.emplace("calls", calls);
  object.emplace("switches", switches);
  object.emplace("purposes", numbers_json(purposes));
  object.emplace("faults", numbers_json(faults));
  object.emplace("steps", numbers_json(steps));
  object.emplace("pairs", numbers_json(pairs));
  Json::Object reached;
  for (const auto& [place, was] : places) reached.emplace(place, was);
  object.emplace("places", std::move(reached));
  return Json(std::move(object)).compact();
}

Result<JobResult> JobResult::decode(std::string_view line) {
  auto json = Json::parse(line);
  MORULA_TRY(json);
  JobResult result;
  auto job = job_of(*json);
  MORULA_TRY(job);
  result.job = std::move(*job);
  auto verdict = json->string_at("verdict");
  MORULA_TRY(verdict);
  for (size_t i = 0; i < std::size(kVerdicts); ++i) {
    if (kVerdicts[i] == *verdict) result.verdict = static_cast<Verdict>(i);
  }
  auto hash = json->string_at("hash");
  MORULA_TRY(hash);
  std::from_chars(hash->data(), hash->data() + hash->size(), result.hash, 16);
  if (result.verdict != Verdict::kHeld) {
    auto rule = json->string_at("rule");
    MORULA_TRY(rule);
    auto detail = json->string_at("detail");
    MORULA_TRY(detail);
    result.rule = std::move(*rule);
    result.detail = std::move(*detail);
    MORULA_TRY(read_u64(*json, "failed_at_us", result.failed_at_us));
  }
  MORULA_TRY(read_u64(*json, "virtual_us", result.virtual_us));
  MORULA_TRY(read_u64(*json, "cpu_us", result.cpu_us));
  MORULA_TRY(read_u64(*json, "operations", result.operations));
  MORULA_TRY(read_u64(*json, "store_requests", result.store_requests));
  MORULA_TRY(read_u64(*json, "calls", result.calls));
  MORULA_TRY(read_u64(*json, "switches", result.switches));
  read_numbers(*json, "purposes", result.purposes);
  read_numbers(*json, "faults", result.faults);
  read_numbers(*json, "steps", result.steps);
  read_numbers(*json, "pairs", result.pairs);
  if (const Json* places = json->find("places"); places && places->as_object()) {
    for (const auto& [place, was] : *places->as_object()) {
      result.places[place] = was.as_bool() != nullptr && *was.as_bool();
    }
  }
  return result;
}

JobResult run_job(const Job& job) {
  return run_job(job, {}, false);
}

JobResult run_job(const Job& job, const SimTrace::LineSink& lines, bool detail) {
  const Scenario* scenario = find_scenario(job.scenario);
  if (scenario == nullptr) {
    JobResult result;
    result.job = job;
    fail_result(result, "usage", "there is no scenario \"" + job.scenario + "\"");
    return result;
  }
  active_mutant = job.mutant;
  const uint64_t begin = cpu_time_us();
  JobResult result = to_result(job, simulate(*scenario, job.seed, lines, detail));
  result.cpu_us = cpu_time_us() - begin;
  if (job.twice) {
    const JobResult again = to_result(job, simulate(*scenario, job.seed, {}, false));
    if (again.hash != result.hash || again.verdict != result.verdict || again.rule != result.rule ||
        again.detail != result.detail) {
      fail_result(result, "determinism",
                  "two runs of the seed differ: hash " + hex(result.hash) + " and " +
                      hex(again.hash) + "; first " + std::string(to_string(result.verdict)) + " " +
                      result.rule + ", then " + std::string(to_string(again.verdict)) + " " +
                      again.rule);
    }
  }
  active_mutant = Mutant::none;
  return result;
}

}  // namespace morula::sim
