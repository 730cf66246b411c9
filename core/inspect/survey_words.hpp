// What damage means, for somebody who has to do something about it.
#pragma once

#include <string>
#include <string_view>

namespace morula::words {

/// `key` of cell.json, topology.json or a member document.
std::string of_document(std::string_view key);
/// `shards`: "shard 01, 10"
std::string of_manifest(const std::string& shards);
std::string of_table(const std::string& shards);
std::string of_log(const std::string& shards);
std::string of_shard(const std::string& shards);
/// Its tables' index does not agree with their streams.
std::string of_listing(const std::string& shards);
std::string of_unneeded();

}  // namespace morula::words
