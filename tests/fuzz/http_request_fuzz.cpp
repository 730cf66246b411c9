// An HTTP request's bytes, all at once and in pieces: the cuts of a network must not matter.
#include <optional>

#include "prod/http/http_parser.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace morula {
namespace {

struct Outcome {
  bool done = false;
  size_t taken = 0;
  HttpRequest request;
};

Outcome parse(std::string_view bytes, size_t piece) {
  HttpLimits limits;
  // No input is larger: at which byte a limit is met depends on the cuts.
  limits.head_bytes_max = 8192;
  limits.body_bytes_max = 8192;
  HttpParser parser(limits);
  Outcome outcome;
  size_t offered = 0;
  while (!parser.done() && !parser.problem() && offered < bytes.size()) {
    offered = std::min(bytes.size(), std::max(offered, outcome.taken) + piece);
    outcome.taken += parser.feed(bytes.substr(outcome.taken, offered - outcome.taken));
  }
  outcome.done = parser.done() && !parser.problem();
  if (outcome.done) outcome.request = parser.take();
  return outcome;
}

}  // namespace
}  // namespace morula

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace morula;
  if (size == 0) return 0;
  const std::string_view bytes = fuzz::text_of(data, size).substr(1);
  const Outcome whole = parse(bytes, bytes.size());
  const Outcome pieces = parse(bytes, 1 + data[0] % 16);
  fuzz::expect(whole.done == pieces.done, "a request is complete however it arrives");
  // Of several things that are wrong, another may be found first, and later.
  if (!whole.done) return 0;
  fuzz::expect(whole.taken == pieces.taken, "it ends at the same byte");
  fuzz::expect(whole.request.method == pieces.request.method, "it has the same method");
  fuzz::expect(whole.request.target == pieces.request.target, "it has the same target");
  fuzz::expect(whole.request.headers == pieces.request.headers, "the same headers");
  fuzz::expect(whole.request.body == pieces.request.body, "and the same body");
  return 0;
}
