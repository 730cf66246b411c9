#include "core/cell/handoff_messages.hpp"

#include "core/base/document.hpp"
#include "core/base/json.hpp"

namespace morula {

namespace {

/// Reads one message by `read`, which takes its members.
template <class Message, class Read>
Result<Message> decode(std::string_view text, Read read) {
  auto json = Json::parse(text);
  if (!json) return fail(ErrorCode::kInvalid, json.error().message);
  if (json->as_object() == nullptr) return fail(ErrorCode::kInvalid, "the body is no JSON object");
  MemberReader in(*json);
  Message message = read(in);
  if (auto finished = in.finish(); !finished) {
    return fail(ErrorCode::kInvalid, finished.error().message);
  }
  return message;
}

}  // namespace

std::string encode(const PrepareMessage& message) {
  return Json(Json::Object{{"to", message.to.text()},
                           {"from", message.from.text()},
                           {"shard", message.shard.text()},
                           {"epoch", message.epoch.value},
                           {"manifest_key", message.manifest_key},
                           {"manifest", encode_manifest(message.manifest)},
                           {"acknowledged", message.acknowledged.value}})
      .compact();
}

std::string encode(const AcceptMessage& message) {
  return Json(Json::Object{{"to", message.to.text()},
                           {"shard", message.shard.text()},
                           {"attempt", message.attempt.text()},
                           {"topology", message.topology.value}})
      .compact();
}

std::string encode(const NamedMessage& message) {
  return Json(Json::Object{{"to", message.to.text()},
                           {"topology", encode_topology(message.topology)},
                           {"manifest_key", message.manifest_key},
                           {"manifest", encode_manifest(message.manifest.content)},
                           {"etag", message.manifest.etag}})
      .compact();
}

std::string encode_accepted(LogSeq from) {
  return Json(Json::Object{{"from", from.value}}).compact();
}

Result<PrepareMessage> decode_prepare(std::string_view text) {
  return decode<PrepareMessage>(text, [](MemberReader& in) {
    PrepareMessage message;
    message.to = in.parsed("to", IncarnationId::parse);
    message.from = in.parsed("from", IncarnationId::parse);
    message.shard = in.parsed("shard", Prefix::parse);
    message.epoch = Epoch(in.number("epoch"));
    message.manifest_key = in.string("manifest_key");
    message.manifest = in.parsed("manifest", decode_manifest);
    message.acknowledged = LogSeq(in.number("acknowledged"));
    return message;
  });
}

Result<AcceptMessage> decode_accept(std::string_view text) {
  return decode<AcceptMessage>(text, [](MemberReader& in) {
    AcceptMessage message;
    message.to = in.parsed("to", IncarnationId::parse);
    message.shard = in.parsed("shard", Prefix::parse);
    message.attempt = in.parsed("attempt", Ulid::parse);
    message.topology = Version(in.number("topology"));
    return message;
  });
}

Result<NamedMessage> decode_named(std::string_view text) {
  return decode<NamedMessage>(text, [](MemberReader& in) {
    NamedMessage message;
    message.to = in.parsed("to", IncarnationId::parse);
    message.topology = in.parsed("topology", decode_topology);
    message.manifest_key = in.string("manifest_key");
    message.manifest.content = in.parsed("manifest", decode_manifest);
    message.manifest.etag = in.string("etag");
    return message;
  });
}

Result<LogSeq> decode_accepted(std::string_view text) {
  return decode<LogSeq>(text, [](MemberReader& in) { return LogSeq(in.number("from")); });
}

}  // namespace morula
