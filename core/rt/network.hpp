// Calls between instances, and from clients: HTTP-shaped messages.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/memory_account.hpp"
#include "core/base/result.hpp"
#include "core/base/units.hpp"
#include "core/rt/body_source.hpp"
#include "core/rt/fiber.hpp"

namespace morula {

/// Header fields in order of arrival. Names compare without case. They lie one after the other in
/// one piece of memory: a request has many, and is gone before long.
class Headers {
 public:
  struct Field {
    std::string_view name;
    std::string_view value;
  };

  /// Walks the fields; views and iterators are valid until the headers change.
  class Iterator {
   public:
    using value_type = Field;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Field operator*() const;
    Iterator& operator++();
    Iterator operator++(int);
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class Headers;
    explicit Iterator(const char* at) : at_(at) {}
    const char* at_ = nullptr;
  };

  /// Appends a field. (Neither view is one of these fields, here and in `set`.)
  void add(std::string_view name, std::string_view value);
  /// Replaces all fields of that name by one, which takes the place of the first.
  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);
  /// The first field of that name.
  std::optional<std::string_view> find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name).has_value(); }
  size_t count(std::string_view name) const;
  friend bool operator==(const Headers&, const Headers&) = default;
  Iterator begin() const { return Iterator(fields_.data()); }
  Iterator end() const { return Iterator(fields_.data() + fields_.size()); }

 private:
  std::string fields_;  // each: length of its name, of its value, name, value
};

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // path and query as they arrived: "/v1/stream/a%20b?offset=-1"
  Headers headers;
  std::string body;
};

struct HttpResponse {
  int status = 200;
  Headers headers;
  std::string body;
  /// What the body takes is reserved until it has left the process. Null: it is too small to count.
  std::shared_ptr<MemoryReservation> body_memory;
  /// Set: the body comes in pieces, `body` is empty. One taker.
  std::shared_ptr<BodySource> source;
};

/// How an answer's body may come in pieces.
struct BodyBounds {
  uint64_t window_bytes = 64 * kKiB;            // fetched and not yet taken, at most
  Duration silence = std::chrono::seconds(30);  // between two pieces, at most; then it is cut
};

class Network {
 public:
  /// Runs in a fiber of its own. Must not throw anything but Cancelled; a cancelled handler's
  /// caller gets no answer (its connection closes). An answer with a source goes on in that fiber:
  /// pieces are pulled as the caller takes them. If one fails, or the fiber is cancelled, the
  /// caller sees that the body was cut; if the caller goes away, the source is dropped at once.
  using Handler = std::function<HttpResponse(const HttpRequest&)>;

  virtual ~Network() = default;

  /// Where others reach this process: "http://host:port".
  virtual std::string address() const = 0;

  /// Suspends until the answer is there. kTimeout: `deadline` came first (outcome unknown);
  /// kUnavailable: the connection failed after the request may have been sent (outcome unknown);
  /// kNotFound: nobody listens there, the request was certainly not carried out.
  virtual Result<HttpResponse> call(const std::string& address, const HttpRequest& request,
                                    Time deadline) = 0;

  /// The same, but for a body of more than `bounds.window_bytes`, or of a length that isn't told:
  /// then the answer is returned, within `deadline`, as soon as its head is there, with a source.
  /// Whoever drops that early hangs up. A network may give any body whole. kBusy: too many come so.
  virtual Result<HttpResponse> call_in_pieces(const std::string& address,
                                              const HttpRequest& request, Time deadline,
                                              const BodyBounds& /*bounds*/) {
    return call(address, request, deadline);
  }

  /// From now on each arriving request runs `handler` in a child of `scope`, which must stay open
  /// until `stop_serving`. Before `serve` and after `stop_serving`, requests are refused.
  virtual void serve(Scope& scope, Handler handler) = 0;
  virtual void stop_serving() = 0;
};

}  // namespace morula
