#include "invariants/record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/json.hpp"

namespace morula::invariants {
namespace {

Framing drawn_framing() {
  return *rc::gen::element(Framing::kBytes, Framing::kJson);
}

std::vector<Message> expected_messages(RecordId id, uint32_t count, uint64_t length) {
  std::vector<Message> out;
  for (uint32_t i = 0; i < count; ++i) out.push_back({id, i, count, length});
  return out;
}

RC_GTEST_PROP(Record, ABodyIsTakenApartIntoItsMessages, ()) {
  Framing framing = drawn_framing();
  RecordId id{*rc::gen::inRange<uint32_t>(0, 1000), *rc::gen::inRange<uint32_t>(0, 100000)};
  auto count = framing == Framing::kBytes ? 1U : *rc::gen::inRange<uint32_t>(1, 9);
  auto length = *rc::gen::inRange<uint64_t>(kMessageBytesMin, 2000);
  std::string body = record_body(id, count, length, framing);
  std::vector<Message> messages;
  RC_ASSERT(parse_body(body, framing, messages) == "");
  RC_ASSERT(messages == expected_messages(id, count, length));
  if (framing == Framing::kJson) {
    auto json = Json::parse(body);
    RC_ASSERT(json.has_value());
    RC_ASSERT(json->as_array() != nullptr && json->as_array()->size() == count);
  }
}

RC_GTEST_PROP(Record, AnyChangedByteIsNoticed, ()) {
  Framing framing = drawn_framing();
  std::string body = record_body({3, 17}, 1, 200, framing);
  auto at = *rc::gen::inRange<size_t>(0, body.size());
  auto flip = *rc::gen::inRange<int>(1, 256);
  body[at] = static_cast<char>(body[at] ^ flip);
  std::vector<Message> messages;
  std::string wrong = parse_body(body, framing, messages);
  RC_ASSERT(wrong != "");
}

RC_GTEST_PROP(Record, AnyCutIsNoticed, ()) {
  std::string body = record_body({3, 17}, 3, 100, Framing::kJson);
  auto keep = *rc::gen::inRange<size_t>(0, body.size());
  std::vector<Message> messages;
  RC_ASSERT(parse_body(std::string_view(body).substr(0, keep), Framing::kJson, messages) != "");
}

TEST(Record, SeveralRecordsOfABodyAreToldApart) {
  std::string body =
      record_body({1, 1}, 1, 90, Framing::kBytes) + record_body({2, 5}, 1, 300, Framing::kBytes);
  std::vector<Message> messages;
  EXPECT_EQ(parse_body(body, Framing::kBytes, messages), "");
  EXPECT_EQ(messages, (std::vector<Message>{{{1, 1}, 0, 1, 90}, {{2, 5}, 0, 1, 300}}));
}

TEST(Record, AnEmptyBodyHasNoMessages) {
  std::vector<Message> messages;
  EXPECT_EQ(parse_body("", Framing::kBytes, messages), "");
  EXPECT_EQ(parse_body("[]", Framing::kJson, messages), "");
  EXPECT_EQ(parse_body(" [ ] ", Framing::kJson, messages).substr(0, 13), "no JSON array");
  EXPECT_TRUE(messages.empty());
}

TEST(Record, MessagesAreFoundAnywhereInOtherBytes) {
  std::string bytes = "~c magic ~" + record_body({1, 1}, 1, 90, Framing::kBytes) +
                      std::string("\0~c9#", 5) + record_body({2, 5}, 2, 100, Framing::kJson) +
                      "~c3#1 0/1 90 tail";
  std::vector<Message> found;
  find_messages(bytes, [&](const Message& message) { found.push_back(message); });
  EXPECT_EQ(found,
            (std::vector<Message>{{{1, 1}, 0, 1, 90}, {{2, 5}, 0, 2, 100}, {{2, 5}, 1, 2, 100}}));
}

TEST(Record, WhatIsWrongIsShownWithItsPlace) {
  std::string body = record_body({1, 1}, 1, 90, Framing::kBytes);
  body += "oops";
  std::vector<Message> messages;
  EXPECT_NE(
      parse_body(body, Framing::kBytes, messages).find("no intact message at byte 90 of 94: "),
      std::string::npos);
  EXPECT_EQ(messages.size(), 1u);
}

}  // namespace
}  // namespace morula::invariants
