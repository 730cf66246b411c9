#include "invariants/observer.hpp"

#include <utility>

#include "core/cell/cell_document.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants {

Observer::Observer(std::function<Duration()> now, const ObjectView& objects)
    : now_(std::move(now)),
      reachable_(objects, documents_, violations_),
      listings_(violations_),
      reads_(reachable_, violations_),
      acknowledgements_(objects, reachable_, reads_, violations_),
      leases_(violations_),
      adoptions_(violations_),
      fencing_(objects, reachable_, violations_),
      append_path_(violations_) {}

// ---- clients ----

StreamHistory& Observer::stream(const std::string& path) {
  return streams_.try_emplace(path, history_, walls_, path, violations_).first->second;
}

Duration Observer::look_at_walls() {
  const Duration now = now_();  // once: a real clock shows another time when it is asked again
  if (read_walls_) walls_.read(now, read_walls_());
  return now;
}

OpRef Observer::begin(Request request) {
  const Duration now = look_at_walls();
  OpRef ref = history_.begin(std::move(request), now);
  stream(history_.op(ref).request.path).begin(ref);
  return ref;
}

void Observer::end(OpRef ref, const Response& response) {
  const Duration now = look_at_walls();
  history_.end(ref, response, now);
  const Op& op = history_.op(ref);
  check_durable(op, ref);
  stream(op.request.path).end(ref);
}

void Observer::unexpected(std::string_view what) {
  if (any_damage_) return;
  violations_.report(Invariant::kServed, now_(), std::string(what));
}

OpenListing Observer::begin_listing(ListQuestion question) {
  OpenListing listing{std::move(question), {}};
  for (const auto& [path, history] : streams_) {
    if (!Listings::asks_for(listing.question, path)) continue;
    Request request;
    request.client = listing.question.client;
    request.number = listing.question.number;
    request.server = listing.question.server;
    request.kind = OpKind::kListed;
    request.path = path;
    listing.ops.push_back(begin(std::move(request)));
  }
  return listing;
}

void Observer::end_listing(const OpenListing& listing, const ListAnswer* answer) {
  Response nothing;
  nothing.outcome = Outcome::kRefused;
  for (const OpRef op : listing.ops) {
    const std::string& path = history_.op(op).request.path;
    end(op, answer == nullptr ? nothing : Listings::says(listing.question, *answer, path));
  }
  if (answer == nullptr) return;
  listings_.check(listing.question, *answer, now_());
  for (const ListAnswer::Stream& stream : answer->streams) {
    const std::string name = Listings::name_of(listing.question, stream.path);
    if (!streams_.contains(name)) listings_.unheard_of(listing.question, name, now_());
  }
}

void Observer::unexpected(OpRef ref, std::string_view what) {
  const Op& op = history_.op(ref);
  if (op.response.status == 500 && any_damage_) return;
  violations_.report(
      Invariant::kServed, now_(),
      "stream " + op.request.path + ": " + history_.describe(ref) + ": " + std::string(what));
}

void Observer::client_died(uint32_t client) {
  dead_clients_.insert(client);
}

/// What a client is told lies in the bucket.
void Observer::check_durable(const Op& op, OpRef ref) {
  if (!sees_store_ || op.response.outcome != Outcome::kOk) return;
  auto check = [&](RecordId record) {
    if (durable_.holds(record)) return true;
    violations_.report(Invariant::kNothingLost, now_(),
                       "stream " + op.request.path + ": " + history_.describe(ref) +
                           " was answered, but record " + to_string(record) +
                           " lies in no log object yet");
    return false;
  };
  bool wrote = op.request.messages > 0 && !op.response.existed;
  if (wrote && !check(op.request.record)) return;
  for (const Message& message : op.messages) {
    if (!check(message.record)) return;
  }
}

std::vector<std::string> Observer::paths() const {
  std::vector<std::string> out;
  out.reserve(streams_.size());
  for (const auto& [path, history] : streams_) out.push_back(path);
  return out;
}

// ---- processes ----

void Observer::step(const StepEvent& event, HandlerId handler) {
  Duration now = now_();
  append_path_.step(handler, event, now);
  acknowledgements_.step(event, now);
  fencing_.step(event, now);
  leases_.step(event);
  adoptions_.step(event, now);
  if (spec_steps_) spec_steps_->step(event, now);
}

void Observer::log_line(std::string_view process, Severity severity, std::string_view event,
                        std::initializer_list<LogField> fields) {
  if (severity != Severity::kError || damaged_.contains(process)) return;
  std::string line(process);
  line.append(" logged an error: ").append(event);
  for (const LogField& field : fields) {
    line.append(" ").append(field.name).append("=").append(field.value);
  }
  violations_.report(Invariant::kNoErrorLine, now_(), line);
}

void Observer::started(std::string_view process) {
  if (auto damaged = damaged_.find(process); damaged != damaged_.end()) damaged_.erase(damaged);
}

void Observer::stopped(std::string_view process, std::string_view incarnation, StopReason reason,
                       std::string_view why) {
  append_path_.died(process);
  leases_.stopped(process);
  fencing_.stopped(incarnation, reason, now_());
  if (reason != StopReason::kFailed || damaged_.contains(process)) return;
  violations_.report(Invariant::kNoErrorLine, now_(),
                     std::string(process) + " ended with an error: " + std::string(why));
}

void Observer::paused(std::string_view process) {
  append_path_.stopped_for_a_while(process);
}

void Observer::resumed(std::string_view process) {
  append_path_.stopped_for_a_while(process);
}

void Observer::request_arrived(HandlerId handler, std::string_view process, std::string_view method,
                               std::string_view target) {
  append_path_.arrived(handler, process, method, target, now_());
}

void Observer::passed_on_again(std::string_view process, std::string_view target) {
  violations_.report(Invariant::kServed, now_(),
                     std::string(process) + " gets a request for " + std::string(target) +
                         " that was passed on twice: who is asked serves it, or says who does");
}

void Observer::request_answered(HandlerId handler, int status) {
  append_path_.answered(handler, status, now_());
}

void Observer::read_answered(std::string_view instance, std::string_view tenant,
                             std::string_view target) {
  reads_.answered(instance, tenant, target, now_());
}

// ---- the store ----

void Observer::store_asked(HandlerId handler, bool writes, Purpose purpose, std::string_view key) {
  append_path_.asked_store(handler, writes, purpose, key, now_());
  if (writes && key.starts_with("shards/")) adoptions_.manifest_sent(key);
}

void Observer::store_sent(std::string_view key, std::string_view body, bool will_land) {
  if (spec_steps_) spec_steps_->sent(key, body, will_land, now_());
}

void Observer::object_written(std::string_view key, std::string_view body) {
  leases_.object_written(key, body, now_());
  if (key == keys::kCell) {
    auto cell = decode_cell(body);
    if (cell) reads_.learn(cell->hash_secret);
  }
  durable_.written(key, body);
  reachable_.written(key, now_());
  if (spec_steps_) spec_steps_->written(key, body, now_());
}

void Observer::store_read_sent(std::string_view key, Purpose purpose, uint64_t process) {
  if (!spec_steps_ || purpose != Purpose::kGc || key != keys::kTopology) return;
  spec_steps_->collector_asks(process);
}

void Observer::object_removed(std::string_view key, Purpose purpose, uint64_t process) {
  reachable_.removed(key, purpose, now_());
  if (spec_steps_) spec_steps_->removed(key, purpose, process, now_());
}

void Observer::bytes_damaged(std::string_view process) {
  damaged_.emplace(process);
  any_damage_ = true;
}

// ---- the end ----

void Observer::healed(Duration bound) {
  healed_at_ = now_();
  bound_ = bound;
}

void Observer::finish() {
  check_served();
  reachable_.check_all(now_());
  for (auto& [path, history] : streams_) history.finish(now_());
}

/// Invariant 8, its liveness part.
void Observer::check_served() {
  Duration now = now_();
  Duration by = healed_at_.value_or(now) + bound_;
  auto report = [&](const std::string& message) {
    violations_.report(Invariant::kServed, now, message);
  };
  std::set<std::string> served;
  for (OpRef ref = 0; ref < history_.size(); ++ref) {
    const Op& op = history_.op(ref);
    std::string what = "stream " + op.request.path + ": ";
    if (op.pending()) {
      if (!dead_clients_.contains(op.request.client)) {
        report(what + history_.describe(ref) + " never ended");
      }
      continue;
    }
    Outcome outcome = op.response.outcome;
    bool certain = outcome == Outcome::kOk || outcome == Outcome::kAbsent;
    if (healed_at_ && op.ended_at >= *healed_at_ && certain && op.ended_at <= by) {
      served.insert(op.request.path);
    }
    if (healed_at_ && op.began_at >= by && outcome == Outcome::kUnknown) {
      report(what + history_.describe(ref) +
             " got no certain answer, although all faults ended at " + time_text(*healed_at_));
    }
  }
  if (!healed_at_) return;
  for (const auto& [path, history] : streams_) {
    if (served.contains(path)) continue;
    report("stream " + path + " was not served by " + time_text(by) +
           ", although all faults ended at " + time_text(*healed_at_));
  }
  for (const std::string& handled : append_path_.under_way(now - bound_)) {
    report(handled + " has not been answered");
  }
}

}  // namespace morula::invariants
