#include "core/base/json.hpp"

#include <algorithm>

#include "core/base/json_token.hpp"

namespace morula {

namespace {

/// Length of the UTF-8 sequence at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [text](size_t i) -> uint32_t {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : 0;
  };
  const auto follows = [&byte](size_t i, uint32_t low = 0x80, uint32_t high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const uint32_t first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    // Neither overlong nor a surrogate.
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    // Neither overlong nor above U+10FFFF.
    const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

void append_control(std::string& out, char c) {
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  constexpr std::string_view kEscapes = "bfnrt";
  constexpr std::string_view kHex = "0123456789abcdef";
  out.push_back('\\');
  if (const size_t i = kMeanings.find(c); i != std::string_view::npos) {
    out.push_back(kEscapes[i]);
    return;
  }
  out.append("u00");
  out.push_back(kHex[static_cast<uint8_t>(c) >> 4]);
  out.push_back(kHex[c & 15]);
}

Error wrong_member(std::string_view name, std::string_view wanted) {
  return Error{ErrorCode::kCorrupt,
               "member " + json_quote(name) + " is absent or not " + std::string(wanted)};
}

}  // namespace

Json::Json(int64_t v) {
  if (v >= 0) {
    value_ = static_cast<uint64_t>(v);
  } else {
    value_ = v;
  }
}

const Json* Json::find(std::string_view name) const {
  const Object* object = as_object();
  if (object == nullptr) return nullptr;
  const auto member = object->find(name);
  return member == object->end() ? nullptr : &member->second;
}

Result<std::string> Json::string_at(std::string_view name) const {
  const Json* member = find(name);
  const std::string* v = member == nullptr ? nullptr : member->as_string();
  if (v == nullptr) return fail(wrong_member(name, "a string"));
  return *v;
}

Result<uint64_t> Json::u64_at(std::string_view name) const {
  const Json* member = find(name);
  const uint64_t* v = member == nullptr ? nullptr : member->as_u64();
  if (v == nullptr) return fail(wrong_member(name, "an integer of 0 to 2^64-1"));
  return *v;
}

Result<bool> Json::bool_at(std::string_view name) const {
  const Json* member = find(name);
  const bool* v = member == nullptr ? nullptr : member->as_bool();
  if (v == nullptr) return fail(wrong_member(name, "true or false"));
  return *v;
}

Result<Json::Array> Json::array_at(std::string_view name) const {
  const Json* member = find(name);
  const Array* v = member == nullptr ? nullptr : member->as_array();
  if (v == nullptr) return fail(wrong_member(name, "an array"));
  return *v;
}

/// Prints a tree; indented, or on one line without spaces.
class JsonPrinter {
 public:
  explicit JsonPrinter(bool indented) : indented_(indented) {}

  void print(const Json& json) {
    std::visit([this](const auto& v) { print_value(v); }, json.value_);
  }
  std::string take() { return std::move(out_); }

 private:
  void print_value(std::monostate) { out_ += "null"; }
  void print_value(bool v) { out_ += v ? "true" : "false"; }
  void print_value(uint64_t v) { out_ += std::to_string(v); }
  void print_value(int64_t v) { out_ += std::to_string(v); }
  void print_value(const Json::Decimal& v) { out_ += v.text; }
  void print_value(const std::string& v) { out_ += json_quote(v); }

  void print_value(const Json::Array& array) {
    print_all('[', ']', array, [this](const Json& element) { print(element); });
  }
  void print_value(const Json::Object& object) {
    print_all('{', '}', object, [this](const auto& member) {
      out_ += json_quote(member.first);
      out_ += indented_ ? ": " : ":";
      print(member.second);
    });
  }

  template <class Container, class PrintOne>
  void print_all(char open, char close, const Container& container, PrintOne print_one) {
    out_ += open;
    ++depth_;
    bool first = true;
    for (const auto& one : container) {
      if (!first) out_ += ',';
      first = false;
      new_line();
      print_one(one);
    }
    --depth_;
    if (!first) new_line();
    out_ += close;
  }

  void new_line() {
    if (!indented_) return;
    out_ += '\n';
    out_.append(static_cast<size_t>(depth_) * 2, ' ');
  }

  bool indented_;
  int depth_ = 0;
  std::string out_;
};

std::string Json::pretty() const {
  JsonPrinter printer(true);
  printer.print(*this);
  return printer.take() + "\n";
}

std::string Json::compact() const {
  JsonPrinter printer(false);
  printer.print(*this);
  return printer.take();
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  while (true) {
    const size_t plain = plain_json_length(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    const size_t length = utf8_length(text);
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (length == 1 && static_cast<uint8_t>(c) < 0x20) {
      append_control(out, c);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out.push_back('"');
  return out;
}

}  // namespace morula
