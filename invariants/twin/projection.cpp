#include "invariants/twin/projection.hpp"

#include <algorithm>
#include <climits>

namespace morula::invariants::twin {

namespace {

std::string text(const spec::HashPrefix& prefix) {
  return Prefix{static_cast<uint16_t>(prefix.bits), static_cast<uint8_t>(prefix.length)}.text();
}

std::string text(const spec::Set<spec::ClippedEntry>& logs) {
  std::string out = "{";
  for (const spec::ClippedEntry& e : logs) {
    if (out.size() > 1) out += ", ";
    out += text(e.clip) + ": " + std::to_string(e.incarnation) + " [" + std::to_string(e.from) +
           ", " + (e.to == spec::kOpen ? std::string("open") : std::to_string(e.to)) + ")";
  }
  return out + "}";
}

std::string text(const spec::Set<spec::ClippedTable>& tables) {
  std::string out = "{";
  for (const spec::ClippedTable& table : tables) {
    if (out.size() > 1) out += ", ";
    out += text(table.clip) + ": " + std::to_string(table.id);
  }
  return out + "}";
}

}  // namespace

void Projection::begins(const IncarnationId& log, uint64_t seq) {
  const auto [known, fresh] = bases_.try_emplace(log, seq);
  if (!fresh) known->second = std::min(known->second, seq);
}

void Projection::begins(const Manifest& manifest) {
  for (const ManifestLog& log : manifest.logs) begins(log.incarnation, log.from.value);
}

int Projection::incarnation(const IncarnationId& id) {
  const auto [known, fresh] = incarnations_.try_emplace(id, state_.incarnation_count() + 1);
  if (fresh) state_.join();
  return known->second;
}

int Projection::position(const IncarnationId& log, uint64_t seq) const {
  return static_cast<int>(seq - bases_.at(log));
}

int Projection::table(const std::string& key) {
  return tables_.try_emplace(key, static_cast<int>(tables_.size()) + 1).first->second;
}

spec::ClippedManifest Projection::manifest(const Manifest& manifest) {
  spec::ClippedManifest out;
  out.version = static_cast<int>(manifest.version.value) - 1;
  out.sealed = manifest.sealed;
  out.mark = static_cast<int>(std::min<uint64_t>(manifest.mark.value, INT_MAX));
  for (const ManifestTable& named : manifest.tables) {
    out.tables.insert({table(named.key), projected(named.clip)});
  }
  for (const ManifestLog& log : manifest.logs) {
    out.logs.insert({projected(log.clip), incarnation(log.incarnation),
                     position(log.incarnation, log.from.value),
                     log.to ? position(log.incarnation, log.to->value) : spec::kOpen});
  }
  return out;
}

int Projection::add(const Manifest& added) {
  state_.manifests.push_back(manifest(added));
  return static_cast<int>(state_.manifests.size());
}

spec::Set<int> Projection::logs(const TopologyShard& row) {
  spec::Set<int> logs;
  for (const IncarnationId& log : row.logs) logs.insert(incarnation(log));
  return logs;
}

spec::PrefixRow Projection::row(const TopologyShard& row, int key) {
  return {projected(row.prefix), static_cast<int>(row.epoch.value), incarnation(row.owner), key,
          logs(row)};
}

spec::Set<spec::ClippedTable> joined(spec::Set<spec::ClippedTable> tables) {
  for (bool again = true; again;) {
    again = false;
    for (const spec::ClippedTable& table : tables) {
      if (table.clip.length == 0) continue;
      const spec::ClippedTable other{table.id, {table.clip.length, table.clip.bits ^ 1}};
      if (!tables.contains(other)) continue;
      const spec::ClippedTable whole{table.id, {table.clip.length - 1, table.clip.bits >> 1}};
      const spec::ClippedTable half = table;
      tables.erase(half);
      tables.erase(other);
      tables.insert(whole);
      again = true;
      break;
    }
  }
  return tables;
}

std::string difference(const spec::ClippedManifest& found, const spec::ClippedManifest& expected) {
  if (found.logs != expected.logs) {
    return "it names the logs " + text(found.logs) + ", in the spec " + text(expected.logs);
  }
  const auto [tables, in_spec] = std::pair(joined(found.tables), joined(expected.tables));
  if (tables != in_spec) {
    return "it names the tables " + text(tables) + ", in the spec " + text(in_spec);
  }
  if (found.mark != expected.mark) {
    return "its mark is " + std::to_string(found.mark) + ", in the spec " +
           std::to_string(expected.mark);
  }
  if (found.sealed != expected.sealed) return found.sealed ? "it is sealed" : "it is not sealed";
  if (found.version == expected.version) return {};
  return "its version is " + std::to_string(found.version) + ", in the spec " +
         std::to_string(expected.version);
}

}  // namespace morula::invariants::twin
