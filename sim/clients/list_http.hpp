// Listings as a client speaks them: a question as an HTTP message, and a page as what the history
// keeps of it.
#pragma once

#include <optional>
#include <string>

#include "core/rt/network.hpp"
#include "invariants/listings.hpp"

namespace morula::sim {

HttpRequest list_request(const invariants::ListQuestion& question);

struct ListReply {
  std::optional<invariants::ListAnswer> answer;  // nullopt: none was given
  std::optional<Duration> retry_after;
  std::string unexpected;  // there is no such answer to such a question
};
ListReply understand_list(const Result<HttpResponse>& result);

}  // namespace morula::sim
