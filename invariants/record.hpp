// The bytes that clients of a world append, made so that they prove themselves: every message says
// who sent it, in which operation, which part of it it is, how long it is, and carries a checksum
// over all of that. Whoever reads a stream knows each message's sender and that no bit of it has
// changed, without asking anybody.
//
//   byte streams   ~c3#17 0/1 128 9f86d081884c7d65 <filling>\n       one message per append
//   JSON streams   {"m":"~c3#17 0/2 128 9f86d081884c7d65 <filling>"}  one to many per append
//
// (client 3, operation 17, part 0 of 2, 128 bytes in all.) The filling is what a careless server
// would trip over: in byte streams any byte but '~', in JSON strings quotes, brackets and commas.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace morula::invariants {

/// Who sent a record first, and in which of its operations: a retry carries the same.
struct RecordId {
  uint32_t client = 0;
  uint32_t number = 0;
  friend auto operator<=>(const RecordId&, const RecordId&) = default;
};
/// "c3#17"
std::string to_string(RecordId id);

enum class Framing : uint8_t { kBytes, kJson };

struct Message {
  RecordId record;
  uint32_t index = 0;   // which of the record's messages
  uint32_t count = 1;   // how many the record has
  uint64_t length = 0;  // of the message's text, in bytes
  friend bool operator==(const Message&, const Message&) = default;
};

/// The shortest text that a message can have.
inline constexpr uint64_t kMessageBytesMin = 80;

/// Text of one message: `message.length` bytes, at least kMessageBytesMin.
std::string message_text(const Message& message, Framing framing);

/// Body of an append: `count` messages of `length` bytes each. Bytes: `count` is 1. JSON: an array,
/// or the bare value when `count` is 1 and `bare`.
std::string record_body(RecordId id, uint32_t count, uint64_t length, Framing framing,
                        bool bare = false);

/// Takes a body that was read apart and appends its messages to `out`. Returns "" or, for a person,
/// what is wrong and where; then `out` holds the messages before it.
std::string parse_body(std::string_view body, Framing framing, std::vector<Message>& out);

/// Calls `found` for each intact message anywhere in `bytes`: what a log object holds.
void find_messages(std::string_view bytes, const std::function<void(const Message&)>& found);

/// The bytes around `at`, printable, for a message to a person.
std::string excerpt(std::string_view bytes, size_t at);

}  // namespace morula::invariants
