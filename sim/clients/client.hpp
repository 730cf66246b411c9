// A client of the cell: one process that asks for one thing at a time, as real ones do.
//
// It speaks HTTP to any instance, goes to another when it gets no answer, and honours Retry-After.
// What it asks for is drawn: creates, plain appends, appends as an idempotent producer (retried
// with the same sequence number until the outcome is certain), appends at an expected offset, reads
// from the start, from an offset of old or in chunks, HEAD, deletes, listings in pages. Some
// streams have a TTL or a time of expiry, some clients number their appends. All of it goes into
// the history.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/rt/env.hpp"
#include "core/rt/random.hpp"
#include "invariants/observer.hpp"
#include "sim/clients/read_cache.hpp"
#include "sim/clients/stream_http.hpp"

namespace morula::sim {

/// What kind of client it is. Drawn by the seed, so that worlds differ: some have no deletes, some
/// hardly anything else.
struct ClientHabits {
  uint32_t creates = 4;  // weights
  uint32_t appends = 20;
  uint32_t produces = 25;
  uint32_t conditional_appends = 6;
  uint32_t reads = 20;
  uint32_t heads = 5;
  uint32_t deletes = 2;
  uint32_t lists = 3;
  Duration pause = std::chrono::milliseconds(250);  // between operations, on average
  Duration timeout = std::chrono::seconds(5);
  uint64_t message_bytes_max = 400;
  uint32_t batch_max = 4;            // messages of a JSON append
  bool follows_redirects = false;    // asks to be redirected instead of forwarded
  uint32_t sends_content_first = 3;  // of 10 creates
  bool numbers_appends = false;      // plain ones, with Stream-Seq

  /// `deletes`: at least some of them delete, and often.
  static ClientHabits draw(Random& random, Duration pause, bool deletes);
};

class Client {
 public:
  /// `number` is unique in the world. Everything referred to outlives the client.
  Client(uint32_t number, std::vector<std::string> addresses, std::vector<std::string> paths,
         const ClientHabits& habits, invariants::Observer& observer);

  /// Each operation that has ended is told in words, for a trace that people read.
  void tell_to(std::function<void(const std::string& line)> sink) { tell_ = std::move(sink); }

  /// Works while `active()`, then settles what is open and returns. Throws Cancelled.
  void run(const Env& env, const std::function<bool()>& active);
  /// Reads every stream from its start to its end and lists them all, until each has been answered
  /// for certain.
  void read_all(const Env& env);

  bool done() const { return done_; }
  /// Operations that were answered, or given up.
  uint64_t operations() const { return operations_; }

 private:
  /// A record that was sent as a producer and whose outcome is not certain yet.
  struct Unsettled {
    invariants::Request request;
    StreamType type;
  };
  struct Stream {
    std::string path;
    StreamType type = StreamType::kBinary;
    bool absent = true;  // as far as is known
    std::vector<invariants::KnownOffset> offsets;
    std::optional<invariants::KnownOffset> tail;
    uint64_t epoch = 0;
    uint64_t seq = 0;
    std::optional<Unsettled> unsettled;
    ReadCache cache;
  };

  void do_something(const Env& env);
  void create(const Env& env, Stream& stream);
  void append(const Env& env, Stream& stream, bool conditional);
  void produce(const Env& env, Stream& stream);
  void read(const Env& env, Stream& stream);
  void read_to_end(const Env& env, Stream& stream);
  void head(const Env& env, Stream& stream);
  void remove(const Env& env, Stream& stream);
  /// Pages through what `question` asks for, to the end or until a page is not answered. False
  /// then.
  bool list(const Env& env, invariants::ListQuestion question);
  void list_something(const Env& env, const Stream& stream);
  /// Everything of every tenant that the streams have.
  void list_all(const Env& env);

  /// Puts a record into the request.
  void fill(const Env& env, invariants::Request& request, StreamType type);
  /// One operation, from its beginning to its end in the history. `request` gets its number.
  /// `cached`: a read that asks whether what the cache holds is still right.
  Answer ask(const Env& env, Stream& stream, invariants::Request& request, StreamType type,
             bool cached = false);
  void learn(const Env& env, Stream& stream, const invariants::Request& request,
             const Answer& answer);
  void mark_places(const Env& env, const Stream& stream, const invariants::Request& request,
                   const invariants::Response& response) const;
  void keep_offset(const Env& env, Stream& stream, const invariants::KnownOffset& offset);
  /// Goes to another server, or waits, if the answer suggests it.
  void heed(const Env& env, const Answer& answer);
  void drop_unsettled(Stream& stream);
  std::string producer_id(const Stream& stream) const;
  std::string draw_sequence(const Env& env) const;

  uint32_t number_;
  std::vector<std::string> addresses_;
  std::vector<Stream> streams_;
  ClientHabits habits_;
  invariants::Observer& observer_;
  std::function<void(const std::string&)> tell_;
  std::string server_;
  uint32_t next_operation_ = 0;
  uint64_t operations_ = 0;
  bool done_ = false;
};

}  // namespace morula::sim
