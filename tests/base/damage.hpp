// Damage, drawn: what a decoder may meet when a writer was wrong or bits have flipped. Whatever it
// is, a decoder answers with an error or with a value that the very same bytes stand for; it never
// reads beyond its input (which the sanitizers watch), and never aborts.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/document.hpp"
#include "core/base/json.hpp"
#include "core/rt/random.hpp"

namespace morula {

/// One change of `bytes` at a drawn place: of a bit, a byte, a number's length, or of what is
/// there.
inline void damage_once(std::string& bytes, Random& random) {
  static const std::array<std::string, 8> kNasty = {
      std::string(1, '\0'),    std::string("\x7f"),
      std::string("\x80"),     std::string(4, '\xff'),
      std::string(8, '\xff'),  std::string(9, '\xff') + '\x01',
      std::string(10, '\x80'), std::string("18446744073709551615")};
  const size_t at = random.below(bytes.size() + 1);
  const size_t rest = bytes.size() - at;
  const size_t some = random.below(std::min<size_t>(rest, 20) + 1);
  switch (random.below(6)) {
    case 0:
      if (rest > 0) bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
      break;
    case 1:
      bytes.resize(at);
      break;
    case 2:
      bytes.erase(at, some);
      break;
    case 3:
      bytes.insert(at, kNasty[random.below(kNasty.size())]);
      break;
    case 4:
      bytes.replace(at, some, kNasty[random.below(kNasty.size())]);
      break;
    default:
      bytes.insert(random.below(bytes.size() + 1), bytes.substr(at, some));
      break;
  }
}

inline std::string damaged(std::string bytes, Random& random) {
  for (uint64_t i = random.between(1, 3); i > 0; --i) damage_once(bytes, random);
  return bytes;
}

/// `check(damaged bytes)` for so many draws of damage to `bytes`; stops at the first that fails.
template <class Check>
void with_damage(const std::string& bytes, int draws, Check check) {
  Random random(20261129);
  for (int i = 0; i < draws && !testing::Test::HasFailure(); ++i) {
    const std::string wrong = damaged(bytes, random);
    SCOPED_TRACE("draw " + std::to_string(i) + ": " + testing::PrintToString(wrong));
    check(wrong);
  }
}

/// A value that is seldom right where `value` was.
inline Json wrong_json(const Json& value, Random& random) {
  switch (random.below(10)) {
    case 0:
      return Json(UINT64_MAX);
    case 1:
      return Json(uint64_t{1} << random.below(64));
    case 2:
      return Json(INT64_MIN);
    case 3:
      return Json(true);
    case 4:
      return Json();
    case 5:
      return Json(std::string());
    case 6:
      return Json(Json::Array{value, value});
    case 7:
      return Json(Json::Object{{"a", value}});
    default:
      break;
  }
  if (const std::string* text = value.as_string()) return Json(damaged(*text, random));
  return Json(random.below(3));
}

/// One change somewhere below `value`: a member or item is another, gone, or there twice.
inline Json damaged_json(const Json& value, Random& random) {
  if (const Json::Object* object = value.as_object(); object != nullptr && !object->empty()) {
    Json::Object members = *object;
    auto member = members.begin();
    std::advance(member, static_cast<std::ptrdiff_t>(random.below(members.size())));
    switch (random.below(8)) {
      case 0:
        members.erase(member);
        break;
      case 1:
        members.emplace(member->first + "x", member->second);
        break;
      default:
        member->second = damaged_json(member->second, random);
        break;
    }
    return Json(std::move(members));
  }
  if (const Json::Array* array = value.as_array();
      array != nullptr && !array->empty() && !random.chance(1, 6)) {
    Json::Array items = *array;
    const size_t at = random.below(items.size());
    switch (random.below(4)) {
      case 0:
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        items.push_back(Json(items[at]));
        break;
      default:
        items[at] = damaged_json(items[at], random);
        break;
    }
    return Json(std::move(items));
  }
  return wrong_json(value, random);
}

/// A document of the bucket, damaged before and behind its checksum: `decode` refuses it as corrupt
/// or reads a value that `encode` writes as the very same document, so nothing is dropped or bent.
template <class Encode, class Decode>
void expect_damage_is_refused_or_harmless(const DocumentFormat& format, const std::string& text,
                                          Encode encode, Decode decode) {
  const auto check = [&](const std::string& wrong) {
    const auto read = decode(wrong);
    if (!read) {
      EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
      return;
    }
    EXPECT_TRUE(Json::parse(encode(*read)).value() == Json::parse(wrong).value());
  };
  with_damage(text, 2000, check);
  const auto opened = open_document(format, text);
  ASSERT_TRUE(opened) << opened.error().message;
  const Json& members = *opened;
  Random random(1);
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) {
    const Json wrong = damaged_json(members, random);
    if (wrong.as_object() == nullptr) continue;
    const std::string sealed = encode_document(format, *wrong.as_object());
    SCOPED_TRACE("draw " + std::to_string(i) + ": " + sealed);
    check(sealed);
  }
}

}  // namespace morula
