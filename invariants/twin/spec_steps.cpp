#include "invariants/twin/spec_steps.hpp"

#include "core/cell/cell_document.hpp"
#include "core/log/log_object.hpp"
#include "core/store/keys.hpp"

namespace morula::invariants::twin {

void SpecSteps::step(const StepEvent& event, Duration now) {
  findings_.set_time(now);
  switch (event.step) {
    case Step::kSeal:
    case Step::kFlush:
    case Step::kCompact:
    case Step::kAdopt:
    case Step::kPublish:
    case Step::kHandOff:
    case Step::kSplit:
    case Step::kMerge:
    case Step::kReopen:
    case Step::kRenewLease:
    case Step::kExpire:
      return said_.said(event);
    case Step::kLoseLease:
    case Step::kAppend:
    case Step::kPutLog:
    case Step::kAcknowledge:
    case Step::kFence:
    case Step::kAccept:
    case Step::kTrim:
    case Step::kReplay:
      break;
    case Step::kFenced:
    case Step::kCollect:
      return;
  }
  SeenLog* actor = cell_.log(event.actor);
  if (actor != nullptr) log_step(*actor, event);
}

void SpecSteps::log_step(SeenLog& actor, const StepEvent& event) {
  if (event.step == Step::kAppend) {
    const auto stream = StreamId::parse(event.subject);
    if (stream) logs_.appended(actor, *stream, event.position);
  } else if (event.step == Step::kPutLog) {
    logs_.PutLog(actor, event.position);
  } else if (event.step == Step::kAcknowledge) {
    logs_.Acknowledge(actor, event.position);
  } else if (event.step == Step::kTrim) {
    logs_.Trim(actor, event.position);
  } else if (event.step == Step::kLoseLease) {
    leases_.LoseLease(actor.id);
  } else if (event.step == Step::kAccept) {
    const auto shard = Prefix::parse(event.subject);
    if (shard) logs_.Accept(actor, *shard, event);
  } else if (SeenLog* subject = cell_.log(event.subject)) {
    if (event.step == Step::kFence) logs_.Fence(actor, *subject, event.position);
    if (event.step == Step::kReplay) logs_.Replay(*subject, event.position, event.other);
  }
}

void SpecSteps::sent(std::string_view key, std::string_view body, bool will_land, Duration now) {
  findings_.set_time(now);
  if (key.starts_with(keys::kLogs)) return log_sent(key, body);
  if (key == keys::kTopology && will_land) {
    const auto next = documents_.topology(body);
    if (next) transfers_.sent(cell_.log((*next)->writer), *next);
  } else if (key.starts_with(keys::kManifests)) {
    const auto next = documents_.manifest(body);
    if (!next) return;
    const std::string name(key);
    SeenLog& by = cell_.log((*next)->writer);
    if (cell_.manifest(name) == nullptr) return transfers_.creation_sent(by, name);
    if (will_land) manifests_.sent(by, name, *next);
  }
}

void SpecSteps::log_sent(std::string_view key, std::string_view body) {
  if (body.size() != kLogFenceBytes) return;
  const auto object = decode_log_object(body);
  if (!object || object->writer != object->incarnation) return;
  if (keys::parse(key)) logs_.Stop(cell_.log(object->incarnation), object->seq.value);
}

void SpecSteps::written(std::string_view key, std::string_view body, Duration now) {
  findings_.set_time(now);
  if (key.starts_with(keys::kLogs)) return log_written(key, body);
  if (key == keys::kTopology) {
    const auto content = documents_.topology(body);
    if (content) transfers_.landed(*content);
  } else if (key.starts_with(keys::kManifests)) {
    const auto content = documents_.manifest(body);
    const auto named = keys::parse(key);
    if (content && named) manifests_.landed(std::string(key), named->shard, *content);
  } else if (key.starts_with(keys::kMembers)) {
    const auto member = decode_member(body);
    if (member) leases_.landed(*member);
  } else if (key == keys::kCell) {
    const auto cell = decode_cell(body);
    if (cell) cell_.set_window(cell->window);
  }
}

void SpecSteps::log_written(std::string_view key, std::string_view body) {
  const auto place = keys::parse(key);
  if (!place) return;
  SeenLog& own = cell_.log(place->incarnation);
  if (body.size() != kLogFenceBytes) {
    return logs_.landed(own, place->seq.value, spec::LogObject::kData, true);
  }
  const auto fence = decode_log_object(body);
  if (!fence) return;
  logs_.landed(own, place->seq.value, spec::LogObject::kFence, fence->writer == own.id);
}

void SpecSteps::removed(std::string_view key, Purpose purpose, CollectorId by, Duration now) {
  findings_.set_time(now);
  if (key.starts_with(keys::kManifests)) return cell_.removed_manifest(std::string(key));
  using Kind = keys::Parsed::Kind;
  const auto object = keys::parse(key);
  if (!object || (object->kind != Kind::kLogObject && object->kind != Kind::kTable)) return;
  SeenLog& own = cell_.log(object->incarnation);
  if (object->kind == Kind::kTable) return tables_.collected(own, std::string(key), by);
  if (purpose == Purpose::kTrim) logs_.trimmed(own, object->seq.value);
  if (purpose == Purpose::kGc) logs_.collected(own, object->seq.value, by);
}

}  // namespace morula::invariants::twin
