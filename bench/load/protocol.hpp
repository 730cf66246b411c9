// What the generator says to a kind of server, and how it finds the end of an answer.
//
// Written by hand instead of on an HTTP client library: those parse every header into containers
// and cost more per request than the servers that are measured here, on the same processors. A
// request is a prebuilt head and a shared body; of an answer only the status and the length are
// looked at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace morula::load {

/// kCreate and kFill prepare a run; kAppend and kRead are measured.
enum class Operation : uint8_t { kCreate, kFill, kAppend, kRead };

struct Request {
  std::string* head;      // kept by its slot, so that it is allocated once: to be overwritten
  std::string_view body;  // goes out after it; outlives the request
};

struct Reply {
  int status = 0;       // as HTTP has them; 0: the answer could not be understood
  bool closes = false;  // the server closes the connection after it
  std::string text;     // of a failed one, its beginning
};

/// Of one connection.
class ReplyScanner {
 public:
  virtual ~ReplyScanner() = default;
  /// Takes bytes from the front of `bytes`, at most one answer, and returns how many. `reply` is
  /// set when an answer is complete.
  virtual size_t take(std::string_view bytes, std::optional<Reply>& reply) = 0;
  /// What the protocol itself wants to be sent now, if anything; asked after each `take`.
  virtual std::string_view owed() { return {}; }
};

struct Workload {
  size_t connections = 1;
  size_t streams = 1;
  size_t record_bytes = 400;
  bool producers = false;  // idempotent: each connection is a producer
  bool creates = false;    // what is measured instead of appends: new streams of one record
  std::string prefix;      // of the streams' names
  std::string nonce;       // that no other run has
};

class Protocol {
 public:
  virtual ~Protocol() = default;

  /// Requests of kCreate that a run needs: `stream` counts up from 0.
  virtual size_t creations() const = 0;
  virtual void write(Operation operation, size_t stream, size_t connection, Request& request) = 0;
  virtual std::unique_ptr<ReplyScanner> scanner() const = 0;
  /// What a new connection says first, and how many answers come to it.
  struct Greeting {
    std::string bytes;
    size_t replies = 0;
  };
  virtual Greeting greeting(size_t /*connection*/) const { return {}; }
};

/// HTTP with the Durable Streams protocol. `host`: for the Host header.
std::unique_ptr<Protocol> http_protocol(const Workload& workload, const std::string& host);
/// XADD and XRANGE.
std::unique_ptr<Protocol> redis_protocol(const Workload& workload);
/// Publish to a JetStream in files, and wait for its acknowledgement. Reads are not supported.
std::unique_ptr<Protocol> nats_protocol(const Workload& workload);

/// `size` printable bytes, the same each time.
std::string record_of(size_t size);

}  // namespace morula::load
