#include "invariants/record.hpp"

#include <array>

#include "core/base/check.hpp"
#include "core/base/codec.hpp"

namespace morula::invariants {

namespace {

constexpr std::string_view kJsonHead = "{\"m\":\"";
constexpr std::string_view kJsonTail = "\"}";

uint64_t mix(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0x9fb21c651e98df25ULL;
  return state ^ (state >> 32);
}

/// Over the header's numbers and the filling.
uint64_t message_checksum(const Message& m, std::string_view filling) {
  uint64_t state = mix(0x7e, m.record.client);
  state = mix(state, m.record.number);
  state = mix(state, m.index);
  state = mix(state, m.count);
  state = mix(state, m.length);
  return mix(state, checksum(filling));
}

std::string hex16(uint64_t value) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out(16, '0');
  for (size_t i = 16; i-- > 0; value >>= 4) out[i] = kDigits[value & 15];
  return out;
}

/// Reads the header's fields one after the other; a field that is missing makes it fail for good.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view in) : in_(in) {}

  uint64_t number() {
    uint64_t value = 0;
    size_t digits = 0;
    while (at_ < in_.size() && in_[at_] >= '0' && in_[at_] <= '9' && digits < 18) {
      value = value * 10 + static_cast<uint64_t>(in_[at_++] - '0');
      ++digits;
    }
    failed_ |= digits == 0;
    return value;
  }
  uint64_t hex() {
    uint64_t value = 0;
    for (size_t i = 0; i < 16; ++i, ++at_) {
      char c = at_ < in_.size() ? in_[at_] : '\0';
      bool digit = c >= '0' && c <= '9';
      failed_ |= !digit && !(c >= 'a' && c <= 'f');
      value = value << 4 | static_cast<uint64_t>(digit ? c - '0' : c - 'a' + 10);
    }
    return value;
  }
  void expect(std::string_view text) {
    failed_ |= at_ > in_.size() || in_.substr(at_, text.size()) != text;
    at_ += text.size();
  }
  bool failed() const { return failed_; }
  size_t at() const { return at_; }

 private:
  std::string_view in_;
  size_t at_ = 0;
  bool failed_ = false;
};

/// Reads one message that begins with its '~' at the start of `in` and ends `tail_bytes` after its
/// filling. `before`: how many bytes of its text came before the '~'. False when it is not one.
bool read_message(std::string_view in, size_t before, size_t tail_bytes, Message& out) {
  HeaderReader header(in);
  header.expect("~c");
  out.record.client = static_cast<uint32_t>(header.number());
  header.expect("#");
  out.record.number = static_cast<uint32_t>(header.number());
  header.expect(" ");
  out.index = static_cast<uint32_t>(header.number());
  header.expect("/");
  out.count = static_cast<uint32_t>(header.number());
  header.expect(" ");
  out.length = header.number();
  header.expect(" ");
  uint64_t sum = header.hex();
  header.expect(" ");
  if (header.failed() || out.length < kMessageBytesMin || out.length - before > in.size()) {
    return false;
  }
  size_t end = out.length - before - tail_bytes;
  return header.at() <= end && out.index < out.count &&
         sum == message_checksum(out, in.substr(header.at(), end - header.at()));
}

/// Filling for the inside of a JSON string, made of whole escapes.
void fill_json(std::string& out, uint64_t bytes, uint64_t seed) {
  static constexpr std::array<std::string_view, 8> kPieces = {"\\\"",    "],[", "\\\\", "{}",
                                                              "\\u00e9", ", ",  "\\n",  "plain"};
  while (bytes > 0) {
    seed = mix(seed, bytes);
    std::string_view piece = kPieces[seed % kPieces.size()];
    if (piece.size() > bytes) piece = std::string_view("xxxxxxxx").substr(0, bytes);
    out.append(piece);
    bytes -= piece.size();
  }
}

/// Any byte but '~'.
void fill_bytes(std::string& out, uint64_t bytes, uint64_t seed) {
  for (; bytes > 0; --bytes) {
    seed = mix(seed, bytes);
    char c = static_cast<char>(seed >> 40);
    out.push_back(c == '~' ? '-' : c);
  }
}

}  // namespace

std::string to_string(RecordId id) {
  return "c" + std::to_string(id.client) + "#" + std::to_string(id.number);
}

std::string message_text(const Message& m, Framing framing) {
  MORULA_CHECK(m.length >= kMessageBytesMin);
  bool json = framing == Framing::kJson;
  std::string out(json ? kJsonHead : std::string_view());
  out.append("~").append(to_string(m.record)).append(" ");
  out.append(std::to_string(m.index)).append("/").append(std::to_string(m.count)).append(" ");
  out.append(std::to_string(m.length)).append(" ");
  std::string_view tail = json ? kJsonTail : std::string_view("\n");
  size_t head_bytes = out.size() + 17;
  MORULA_CHECK(head_bytes + tail.size() <= m.length);
  std::string filling;
  uint64_t seed = mix(mix(m.record.client, m.record.number), m.index);
  uint64_t bytes = m.length - head_bytes - tail.size();
  filling.reserve(bytes);
  json ? fill_json(filling, bytes, seed) : fill_bytes(filling, bytes, seed);
  out.append(hex16(message_checksum(m, filling))).append(" ").append(filling).append(tail);
  return out;
}

std::string record_body(RecordId id, uint32_t count, uint64_t length, Framing framing, bool bare) {
  if (framing == Framing::kBytes) {
    MORULA_CHECK(count == 1);
    return message_text({id, 0, 1, length}, framing);
  }
  if (count == 1 && bare) return message_text({id, 0, 1, length}, framing);
  std::string out = "[";
  for (uint32_t i = 0; i < count; ++i) {
    if (i > 0) out.append(i % 2 == 0 ? "," : " ,\n ");
    out.append(message_text({id, i, count, length}, framing));
  }
  out.append("]");
  return out;
}

std::string parse_body(std::string_view body, Framing framing, std::vector<Message>& out) {
  bool json = framing == Framing::kJson;
  auto wrong = [&](std::string_view what, size_t at) {
    return std::string(what) + " at byte " + std::to_string(at) + " of " +
           std::to_string(body.size()) + ": " + excerpt(body, at);
  };
  size_t at = 0;
  bool closed = !json;
  if (json && (body.empty() || body[at++] != '[')) return wrong("no JSON array", 0);
  bool first = true;
  while (at < body.size()) {
    if (json) {
      size_t separators = 0;
      while (at < body.size() && std::string_view(" \t\r\n,").find(body[at]) != std::string::npos) {
        separators += body[at++] == ',' ? 1 : 0;
      }
      if (at < body.size() && body[at] == ']' && separators == 0) {
        closed = true;
        ++at;
        break;
      }
      if (separators != (first ? 0U : 1U)) return wrong("a comma too many or too few", at);
    }
    Message message;
    size_t before = json ? kJsonHead.size() : 0;
    size_t after = json ? kJsonTail.size() : 1;
    std::string_view rest = body.substr(at);
    if ((json && !rest.starts_with(kJsonHead)) ||
        !read_message(rest.substr(before), before, after, message) ||
        rest.substr(message.length - after, after) != (json ? kJsonTail : "\n")) {
      return wrong("no intact message", at);
    }
    out.push_back(message);
    at += message.length;
    first = false;
  }
  if (!closed || at != body.size()) return wrong("the JSON array does not end properly", at);
  return "";
}

void find_messages(std::string_view bytes, const std::function<void(const Message&)>& found) {
  for (size_t at = bytes.find("~c"); at != std::string_view::npos; at = bytes.find("~c", at + 1)) {
    bool json = at >= kJsonHead.size() &&
                bytes.substr(at - kJsonHead.size(), kJsonHead.size()) == kJsonHead;
    Message message;
    if (read_message(bytes.substr(at), json ? kJsonHead.size() : 0, json ? kJsonTail.size() : 1,
                     message)) {
      found(message);
    }
  }
}

std::string excerpt(std::string_view bytes, size_t at) {
  static constexpr size_t kAround = 40;
  size_t from = at > kAround ? at - kAround : 0;
  size_t to = std::min(bytes.size(), at + kAround);
  std::string out = from > 0 ? "..." : "";
  for (size_t i = from; i < to; ++i) {
    char c = bytes[i];
    if (i == at) out.append("<here>");
    if (c >= ' ' && c <= '~' && c != '\\') {
      out.push_back(c);
    } else {
      out.append("\\x").append(hex16(static_cast<uint8_t>(c)).substr(14));
    }
  }
  if (at >= to) out.append("<here>");
  return to < bytes.size() ? out + "..." : out;
}

}  // namespace morula::invariants
