#include "core/fleet/member.hpp"

#include "core/base/json.hpp"

namespace morula {

namespace {

constexpr uint64_t kFormat = 1;

constexpr MemberState kStates[] = {MemberState::kLive, MemberState::kExpired,
                                   MemberState::kStopped};

Result<MemberState> parse_state(std::string_view text) {
  for (MemberState state : kStates) {
    if (text == to_string(state)) return state;
  }
  return fail(ErrorCode::kCorrupt,
              "state: \"" + std::string(text) + "\" is none of live, expired, stopped");
}

Result<ProcessIdentity> parse_process(const Json& json) {
  const Json* process = json.find("process");
  if (process == nullptr) return fail(ErrorCode::kCorrupt, "process: missing");
  auto boot = process->string_at("boot_id");
  MORULA_TRY(boot);
  auto space = process->string_at("pid_namespace");
  MORULA_TRY(space);
  auto pid = process->u64_at("pid");
  MORULA_TRY(pid);
  auto start = process->u64_at("start_time");
  MORULA_TRY(start);
  return ProcessIdentity{*boot, *space, *pid, *start};
}

}  // namespace

std::string_view to_string(MemberState state) {
  switch (state) {
    case MemberState::kLive:
      return "live";
    case MemberState::kExpired:
      return "expired";
    case MemberState::kStopped:
      return "stopped";
  }
  return "?";
}

std::string encode_member(const Member& member) {
  const auto lease_ms = std::chrono::duration_cast<std::chrono::milliseconds>(member.lease);
  Json::Object process{{"boot_id", member.process.boot_id},
                       {"pid_namespace", member.process.pid_namespace},
                       {"pid", member.process.pid},
                       {"start_time", member.process.start_time}};
  Json::Object object{{"format", kFormat},
                      {"version", member.version.value},
                      {"incarnation", member.incarnation.text()},
                      {"state", std::string(to_string(member.state))},
                      {"lease_ms", static_cast<uint64_t>(lease_ms.count())},
                      {"address", member.address},
                      {"acknowledged", member.acknowledged.value},
                      {"process", std::move(process)},
                      {"writer", member.writer.text()},
                      {"nonce", member.nonce.text()}};
  return Json(std::move(object)).pretty();
}

Result<Member> decode_member(std::string_view text) {
  auto json = Json::parse(text);
  MORULA_TRY(json);
  auto format = json->u64_at("format");
  MORULA_TRY(format);
  if (*format != kFormat) {
    return fail(ErrorCode::kCorrupt, "format: " + std::to_string(*format) +
                                         " is not known to this version, which reads 1");
  }
  Member member;
  auto version = json->u64_at("version");
  MORULA_TRY(version);
  member.version = Version(*version);
  auto incarnation = json->string_at("incarnation").and_then(IncarnationId::parse);
  MORULA_TRY(incarnation);
  member.incarnation = *incarnation;
  auto state = json->string_at("state").and_then(parse_state);
  MORULA_TRY(state);
  member.state = *state;
  auto lease = json->u64_at("lease_ms");
  MORULA_TRY(lease);
  if (*lease == 0 || *lease > 3'600'000) {
    return fail(ErrorCode::kCorrupt, "lease_ms: must be 1 to 3600000");
  }
  member.lease = std::chrono::milliseconds(*lease);
  auto address = json->string_at("address");
  MORULA_TRY(address);
  member.address = *address;
  auto acknowledged = json->u64_at("acknowledged");
  MORULA_TRY(acknowledged);
  member.acknowledged = LogSeq(*acknowledged);
  auto process = parse_process(*json);
  MORULA_TRY(process);
  member.process = *process;
  auto writer = json->string_at("writer").and_then(IncarnationId::parse);
  MORULA_TRY(writer);
  member.writer = *writer;
  auto nonce = json->string_at("nonce").and_then(Ulid::parse);
  MORULA_TRY(nonce);
  member.nonce = *nonce;
  return member;
}

}  // namespace morula
