#include "sim/matrix/matrix_table.hpp"

#include <string_view>

namespace morula::sim {

namespace {

constexpr int kCell = 8;
constexpr int kWideCell = 12;
constexpr const char* kCells[] = {"1 instance", "3 on one machine", "3 instances"};

std::string name_of(Operation operation) {
  return std::string(kOperationNames[static_cast<size_t>(operation)]);
}

/// The first or the second word of a name like `answer_lost`.
std::string word(std::string_view name, bool second) {
  const size_t cut = name.find('_');
  if (!second) return std::string(name.substr(0, cut));
  return cut == std::string_view::npos ? "" : std::string(name.substr(cut + 1));
}

}  // namespace

void MatrixTable::add_points(Operation operation, MatrixCell cell, const MatrixPoints& points) {
  points_[{operation, cell}] = points;
}

void MatrixTable::add(const MatrixCase& which, bool failed, bool met) {
  Count& count = which.blow == Blow::meets ? races_[{which.operation, which.meets}]
                                           : faults_[{which.operation, which.ending, which.blow}];
  ++count.cases;
  count.failed += failed ? 1 : 0;
  count.met += met ? 1 : 0;
}

std::string MatrixTable::text(const Count& count) {
  if (count.cases == 0) return ".";
  std::string text = std::to_string(count.cases);
  if (count.failed > 0) text += "!" + std::to_string(count.failed);
  return text;
}

void MatrixTable::print(std::FILE* out) const {
  print_points(out);
  print_faults(out);
  print_races(out);
}

void MatrixTable::print_points(std::FILE* out) const {
  std::fprintf(out, "\nthe points: all of the process that carries the operation out\n");
  std::fprintf(out, "  %-11s %-17s %9s %18s  %s\n", "operation", "cell", "requests",
               "suspension points", "which process");
  for (const auto& [key, points] : points_) {
    const auto& [operation, cell] = key;
    std::fprintf(out, "  %-11s %-17s %9u %18u  %s\n", name_of(operation).c_str(),
                 kCells[static_cast<size_t>(cell)], points.requests, points.switches,
                 std::string(kOperationVictims[static_cast<size_t>(operation)]).c_str());
  }
}

void MatrixTable::print_faults(std::FILE* out) const {
  std::fprintf(out, "\noperation x fault x recovery: cases (n!m: m of n failed)\n");
  for (const bool second : {false, true}) {
    std::fprintf(out, "  %-11s %-9s", second ? "" : "operation", second ? "" : "recovery");
    for (size_t i = 0; i < static_cast<size_t>(Blow::meets); ++i) {
      std::fprintf(out, " %*s", kCell, word(kBlowNames[i], second).c_str());
    }
    std::fprintf(out, "\n");
  }
  for (size_t i = 0; i < kOperations; ++i) {
    for (const Ending ending : {Ending::same, Ending::other}) {
      std::string line;
      bool any = false;
      for (size_t b = 0; b < static_cast<size_t>(Blow::meets); ++b) {
        const auto found = faults_.find({static_cast<Operation>(i), ending, static_cast<Blow>(b)});
        const std::string cell = text(found == faults_.end() ? Count{} : found->second);
        any |= found != faults_.end();
        line.append(kCell + 1 - std::min<size_t>(cell.size(), kCell), ' ').append(cell);
      }
      if (!any) continue;
      std::fprintf(out, "  %-11s %-9s%s\n", std::string(kOperationNames[i]).c_str(),
                   std::string(kEndingNames[static_cast<size_t>(ending)]).c_str(), line.c_str());
    }
  }
}

void MatrixTable::print_races(std::FILE* out) const {
  if (races_.empty()) return;
  std::fprintf(out,
               "\nraces of one lineage: the operation of the row is held back at each of its "
               "requests while\nthat of the column comes in between: cases (in how many it came to "
               "its end meanwhile)\n  %-11s",
               "");
  for (size_t i = 0; i < kOperations; ++i) {
    if (static_cast<Operation>(i) == Operation::accept) continue;
    std::fprintf(out, " %*s", kWideCell - 1, std::string(kOperationNames[i]).c_str());
  }
  std::fprintf(out, "\n");
  for (size_t row = 0; row < kOperations; ++row) {
    std::string line;
    for (size_t column = 0; column < kOperations; ++column) {
      const auto found = races_.find({static_cast<Operation>(row), static_cast<Operation>(column)});
      if (found == races_.end()) continue;
      std::string cell = text(found->second);
      cell.append(" (").append(std::to_string(found->second.met)).append(")");
      line.append(kWideCell - std::min<size_t>(cell.size(), kWideCell - 1), ' ').append(cell);
    }
    if (line.empty()) continue;
    std::fprintf(out, "  %-11s%s\n", std::string(kOperationNames[row]).c_str(), line.c_str());
  }
}

}  // namespace morula::sim
