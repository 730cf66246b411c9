#include "tests/e2e/storm/tally.hpp"

#include <fmt/format.h>

#include <set>

namespace morula::storm {

namespace {

using invariants::OpRef;
using invariants::Outcome;

/// Whether a message to a person is about the path: its name, and no longer one.
bool is_about(const std::string& message, const std::string& path) {
  const size_t at = message.find("stream " + path);
  if (at == std::string::npos) return false;
  const size_t end = at + 7 + path.size();
  return end == message.size() || message[end] == ':' || message[end] == ' ';
}

/// Why it was not done: a code, a status, or that somebody else is to be asked.
std::string reason(const invariants::Response& response) {
  if (!response.code.empty()) return response.code;
  return response.status == 0 ? "no_answer" : std::to_string(response.status);
}

/// "12 create, 9 read"
std::string list(const std::map<std::string, uint64_t>& counts) {
  std::string text;
  for (const auto& [what, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

void ChangesDone::add(CellStep::Kind kind) {
  if (kind == CellStep::Kind::kSplit) ++splits;
  if (kind == CellStep::Kind::kMerge) ++merges;
  if (kind == CellStep::Kind::kMove) ++moves;
}

std::string ChangesDone::text() const {
  return fmt::format("{} splits, {} merges, {} moves", splits, merges, moves);
}

Tally tally(const invariants::History& history) {
  Tally sum;
  for (OpRef ref = 0; ref < history.size(); ++ref) {
    const invariants::Op& op = history.op(ref);
    if (op.pending()) continue;
    ++sum.operations;
    ++sum.by_kind[std::string(to_string(op.request.kind))];
    const bool done = op.response.outcome == Outcome::kOk;
    const bool wrote = done && op.request.messages > 0 && !op.response.existed;
    if (wrote) ++sum.appends_acknowledged;
    if (wrote && op.response.duplicate) ++sum.found_done;
    if (op.response.outcome == Outcome::kUnknown) ++sum.uncertain[reason(op.response)];
    if (op.response.outcome == Outcome::kRefused) ++sum.refused[reason(op.response)];
    sum.messages_read += op.messages.size();
  }
  return sum;
}

uint64_t Tally::uncertain_count() const {
  uint64_t sum = 0;
  for (const auto& [what, count] : uncertain) sum += count;
  return sum;
}

std::string Tally::text() const {
  return fmt::format(
      "{} operations: {}\n"
      "{} appends acknowledged, {} of them as found done already; {} messages read\n"
      "refused: {}\n"
      "without a certain outcome: {}\n",
      operations, list(by_kind), appends_acknowledged, found_done, messages_read, list(refused),
      list(uncertain));
}

std::string histories_of(const invariants::Observer& observer) {
  std::set<std::string> paths;
  for (const invariants::Violation& violation : observer.verdict().kept()) {
    for (const std::string& path : observer.paths()) {
      if (is_about(violation.message, path)) paths.insert(path);
    }
  }
  std::string text;
  const invariants::History& history = observer.history();
  for (const std::string& path : paths) {
    text += fmt::format("stream {}\n", path);
    for (OpRef ref = 0; ref < history.size(); ++ref) {
      if (history.op(ref).request.path == path) text += "  " + history.describe(ref) + "\n";
    }
  }
  return text;
}

}  // namespace morula::storm
