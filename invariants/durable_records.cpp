#include "invariants/durable_records.hpp"

namespace morula::invariants {

void DurableRecords::written(std::string_view key, std::string_view body) {
  if (!key.starts_with("log/")) return;
  find_messages(body, [this](const Message& message) {
    auto [client, number] = message.record;
    if (seen_.size() <= client) seen_.resize(client + 1);
    if (seen_[client].size() <= number) seen_[client].resize(number + 1);
    seen_[client][number] = true;
  });
}

}  // namespace morula::invariants
