#include "core/fleet/member.hpp"

#include "core/base/document.hpp"

namespace morula {

namespace {

constexpr DocumentFormat kFormat{"morula-member", 2};
constexpr uint64_t kLeaseMsMax = 3'600'000;

Result<MemberState> parse_state(std::string_view text) {
  for (MemberState state : {MemberState::kLive, MemberState::kExpired, MemberState::kStopped}) {
    if (text == to_string(state)) return state;
  }
  return fail(ErrorCode::kCorrupt, "must be live, expired or stopped");
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
  return encode_document(kFormat, {{"version", member.version.value},
                                   {"incarnation", member.incarnation.text()},
                                   {"state", std::string(to_string(member.state))},
                                   {"lease_ms", static_cast<uint64_t>(lease_ms.count())},
                                   {"address", member.address},
                                   {"acknowledged", member.acknowledged.value},
                                   {"table_floor", member.table_floor},
                                   {"process", std::move(process)},
                                   {"writer", member.writer.text()},
                                   {"nonce", member.nonce.text()}});
}

Result<Member> decode_member(std::string_view text) {
  auto json = open_document(kFormat, text);
  MORULA_TRY(json);
  MemberReader in(*json);
  Member member;
  member.version = Version(in.number("version"));
  member.incarnation = in.parsed("incarnation", IncarnationId::parse);
  member.state = in.parsed("state", parse_state);
  member.lease = std::chrono::milliseconds(in.number("lease_ms", 1, kLeaseMsMax));
  member.address = in.string("address");
  member.acknowledged = LogSeq(in.number("acknowledged"));
  member.table_floor = in.number("table_floor");
  member.writer = in.parsed("writer", IncarnationId::parse);
  member.nonce = in.parsed("nonce", Ulid::parse);
  const Json object = in.object("process");
  MemberReader process(object, in.path_of("process"));
  member.process.boot_id = process.string("boot_id");
  member.process.pid_namespace = process.string("pid_namespace");
  member.process.pid = process.number("pid");
  member.process.start_time = process.number("start_time");
  MORULA_TRY(process.finish());
  MORULA_TRY(in.finish());
  return member;
}

}  // namespace morula
