#include "bench/density/workload.hpp"

#include <fmt/format.h>

#include "core/base/codec.hpp"
#include "core/rt/random.hpp"

namespace morula::density {

namespace {

constexpr const char* kKinds[] = {"page_viewed", "order_placed", "cart_changed", "session_began",
                                  "payment_failed"};
constexpr const char* kPlaces[] = {"eu-west-1", "us-east-2", "ap-south-1"};
constexpr const char* kAgents[] = {"Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0",
                                   "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X)"};

std::string event(Random& random, uint64_t bytes) {
  const uint64_t a = random.next();
  const uint64_t b = random.next();
  std::string text =
      fmt::format(R"({{"id":"{:016x}{:016x}","type":"{}","time":{},"region":"{}","agent":"{}",)"
                  R"("user":{{"id":{},"name":"user-{}","plan":"{}"}},"amount":{}.{:02},)"
                  R"("trace":"{:016x}","note":")",
                  a, b, kKinds[a % 5], 1'790'000'000'000 + b % 1'000'000'000, kPlaces[b % 3],
                  kAgents[a / 8 % 2], a % 10'000'000, b % 100'000, a % 4 == 0 ? "team" : "free",
                  b % 5'000, a % 100, random.next());
  while (text.size() + 2 < bytes)
    text += fmt::format("step {} took {} ms; ", random.below(40), random.below(3'000));
  text.resize(bytes - 2);
  return text + "\"}";
}

std::string noise(Random& random, uint64_t bytes) {
  std::string text;
  Encoder out(text);
  while (text.size() < bytes) out.u64(random.next());
  text.resize(bytes);
  return text;
}

}  // namespace

std::string Workload::record(uint64_t n, uint64_t number) const {
  Random random(n * 1'000'003 + number);
  const uint64_t bytes = std::max<uint64_t>(record_bytes, 2);
  return records == Records::kEvents ? event(random, bytes) : noise(random, bytes);
}

HttpRequest Workload::request(const char* method, uint64_t n, const char* query,
                              std::string body) const {
  HttpRequest made;
  made.method = method;
  made.target = fmt::format("/v1/stream/users/{:08}/inbox{}", n, query);
  made.headers.add("Host", "127.0.0.1:4437");
  if (tenant_each) made.headers.add("Morula-Tenant", fmt::format("tenant-{:08}", n));
  if (!body.empty()) {
    made.headers.add("Content-Type", "application/octet-stream");
    made.headers.add("Content-Length", std::to_string(body.size()));
  }
  made.body = std::move(body);
  return made;
}

HttpRequest Workload::create(uint64_t n) const {
  return request("PUT", n, "", record(n, 0));
}

HttpRequest Workload::append(uint64_t n, uint64_t number) const {
  return request("POST", n, "", record(n, number));
}

HttpRequest Workload::read(uint64_t n) const {
  return request("GET", n, "?offset=-1", {});
}

}  // namespace morula::density
