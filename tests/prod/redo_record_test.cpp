// Bytes of a redo log.
#include "prod/directory/redo_record.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "prod/directory/redo_log.hpp"

namespace morula {
namespace {

RC_GTEST_PROP(RedoRecord, WhatIsWrittenIsParsed, ()) {
  const auto path = *rc::gen::arbitrary<std::string>();
  const auto body = *rc::gen::arbitrary<std::string>();
  const RedoFrame frame{*rc::gen::arbitrary<uint64_t>(), *rc::gen::arbitrary<uint64_t>()};
  const RedoObject object{path, {1, -2, body.size()}, -3, body};
  const RedoContent content = redo_content(object);
  std::string bytes(redo_bytes(content), '\xff');
  write_redo(bytes.data(), frame, content);
  RC_ASSERT(bytes.size() % kRedoBlock == 0);
  const auto parsed = parse_redo(bytes);
  RC_ASSERT(parsed.has_value());
  RC_ASSERT(parsed->frame == frame);
  RC_ASSERT(parsed->bytes == bytes.size());
  const auto& back = std::get<RedoObject>(parsed->what);
  RC_ASSERT(back.path == path);
  RC_ASSERT(back.file == object.file);
  RC_ASSERT(back.named == object.named);
  RC_ASSERT(back.body == body);
}

RC_GTEST_PROP(RedoRecord, DamageAnywhereIsNoticed, ()) {
  const std::vector<RedoVoid> voids = {{"a/b", {1, 2, 3}, true}, {"c", {4, 5, 6}, false}};
  const RedoContent content = redo_content(voids);
  std::string bytes(redo_bytes(content), '\0');
  write_redo(bytes.data(), {7, 8}, content);
  RC_ASSERT(std::get<std::vector<RedoVoid>>(parse_redo(bytes)->what).size() == 2);
  const size_t used = 32 + content.head.size();
  bytes[*rc::gen::inRange<size_t>(0, used)] ^= static_cast<char>(1 << *rc::gen::inRange(0, 8));
  RC_ASSERT(!parse_redo(bytes).has_value());
}

TEST(RedoLog, FileNamesAreReadBack) {
  const auto name = parse_redo_file_name(std::string(32, 'a') + "-0123456789abcdef.kept");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->boot, std::string(32, 'a'));
  EXPECT_EQ(name->log, 0x0123456789abcdefu);
  for (const char* other : {"", "lock", "0123456789abcdef", ".kept"}) {
    EXPECT_FALSE(parse_redo_file_name(other)) << other;
  }
  EXPECT_FALSE(parse_redo_file_name(std::string(32, 'a') + "-0123456789abcdef.old"));
  EXPECT_EQ(boot_of_machine().size(), 32u);
}

}  // namespace
}  // namespace morula
