// A client's HTTP cache of one read: it asks again with the read's ETag, and takes a 304 for the
// answer that it has kept, with what the 304 says anew. So a 304 is checked like the 200 that it
// stands for.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/rt/network.hpp"
#include "invariants/history.hpp"

namespace morula::sim {

class ReadCache {
 public:
  /// Keeps a read's answer if it can be asked for again.
  void remember(const invariants::Request& request, const HttpResponse& response) {
    const auto etag = response.headers.find("ETag");
    if (response.status != 200 || !etag) return;
    kept_ = Kept{request.from, std::string(*etag), response.headers, response.body};
  }
  bool empty() const { return !kept_; }
  /// Where the kept read began. Not empty.
  const std::optional<invariants::KnownOffset>& from() const { return kept_->from; }
  /// Not empty.
  const std::string& etag() const { return kept_->etag; }
  /// Turns a 304 into what it stands for. Not empty.
  void complete(HttpResponse& response) const {
    if (response.status != 304) return;
    response.status = 200;
    Headers renewed = kept_->headers;
    for (const auto [name, value] : response.headers) renewed.set(name, value);
    response.headers = std::move(renewed);
    response.body = kept_->body;
  }

 private:
  struct Kept {
    std::optional<invariants::KnownOffset> from;
    std::string etag;
    Headers headers;
    std::string body;
  };
  std::optional<Kept> kept_;
};

}  // namespace morula::sim
