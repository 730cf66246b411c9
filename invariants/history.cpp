#include "invariants/history.hpp"

#include <utility>

#include "core/base/check.hpp"

namespace morula::invariants {

std::string_view to_string(OpKind kind) {
  switch (kind) {
    case OpKind::kCreate:
      return "create";
    case OpKind::kAppend:
      return "append";
    case OpKind::kRead:
      return "read";
    case OpKind::kHead:
      return "head";
    case OpKind::kDelete:
      return "delete";
    case OpKind::kListed:
      return "listing";
  }
  return "?";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPending:
      return "no answer yet";
    case Outcome::kOk:
      return "ok";
    case Outcome::kAbsent:
      return "absent";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kUnknown:
      return "outcome unknown";
  }
  return "?";
}

OpRef History::begin(Request request, Duration at) {
  auto ref = static_cast<OpRef>(ops_.size());
  if (request.messages > 0) {
    auto [client, number] = request.record;
    if (first_attempts_.size() <= client) first_attempts_.resize(client + 1);
    std::vector<OpRef>& of_client = first_attempts_[client];
    if (of_client.size() <= number) of_client.resize(number + 1, kNoOp);
    if (of_client[number] == kNoOp) of_client[number] = ref;
  }
  Op& op = ops_.emplace_back();
  op.request = std::move(request);
  op.response.outcome = Outcome::kPending;
  op.began = ++order_;
  op.began_at = at;
  return ref;
}

void History::end(OpRef ref, const Response& response, Duration at) {
  Op& op = ops_[ref];
  MORULA_CHECK(op.pending(), "an operation ends once");
  op.response = response;
  op.response.body = {};
  op.ended = ++order_;
  op.ended_at = at;
  if (op.request.kind == OpKind::kRead && response.outcome == Outcome::kOk) {
    op.bad_body = parse_body(response.body, response.body_framing, op.messages);
  }
}

OpRef History::first_attempt(RecordId record) const {
  if (record.client >= first_attempts_.size()) return kNoOp;
  const std::vector<OpRef>& of_client = first_attempts_[record.client];
  return record.number < of_client.size() ? of_client[record.number] : kNoOp;
}

namespace {

std::string offset_words(Offset offset) {
  return std::to_string(offset.messages) + "_" + std::to_string(offset.bytes);
}

void describe_request(const Request& request, std::string& out) {
  if (request.messages > 0) {
    out.append(" of record ").append(to_string(request.record));
    out.append(" (").append(std::to_string(request.messages)).append(" x ");
    out.append(std::to_string(request.message_bytes)).append(" bytes)");
  }
  if (request.producer) {
    out.append(" as producer ").append(request.producer->id);
    out.append(" epoch ").append(std::to_string(request.producer->epoch));
    out.append(" seq ").append(std::to_string(request.producer->seq));
  }
  if (request.expected) out.append(" at tail ").append(offset_words(request.expected->offset));
  if (request.sequence) out.append(" seq ").append(*request.sequence);
  if (request.ttl_seconds) {
    out.append(" ttl ").append(std::to_string(*request.ttl_seconds)).append(" s");
  }
  if (request.expires_at) {
    out.append(" expires at ").append(std::to_string(request.expires_at->ms)).append(" ms");
  }
  if (request.from) out.append(" from ").append(offset_words(request.from->offset));
  if (request.at_tail) out.append(" from now");
}

void describe_response(const Op& op, std::string& out) {
  const Response& response = op.response;
  out.append(": ").append(to_string(response.outcome));
  if (response.status != 0) out.append(" ").append(std::to_string(response.status));
  if (!response.code.empty()) out.append(" ").append(response.code);
  if (response.generation) {
    out.append(", generation ").append(std::to_string(*response.generation));
  }
  if (response.next) out.append(", next ").append(offset_words(*response.next));
  if (response.existed) out.append(", existed");
  if (response.duplicate) out.append(", duplicate");
  if (response.up_to_date) out.append(", up to date");
  if (!op.messages.empty()) {
    out.append(", ").append(std::to_string(op.messages.size())).append(" messages");
  }
}

}  // namespace

std::string History::describe(OpRef ref) const {
  const Op& op = ops_[ref];
  std::string out(to_string(op.request.kind));
  out.append(" ").append(to_string(RecordId{op.request.client, op.request.number}));
  describe_request(op.request, out);
  out.append(" [").append(time_text(op.began_at)).append(" to ");
  out.append(op.pending() ? "?" : time_text(op.ended_at));
  if (!op.request.server.empty()) out.append(", asked ").append(op.request.server);
  out.append("]");
  describe_response(op, out);
  return out;
}

}  // namespace morula::invariants
