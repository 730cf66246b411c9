// Offsets as clients see them: 16 digits of messages, '_', 16 digits of bytes. Sortable as text,
// never "-1" or "now".
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/lsm/row.hpp"

namespace morula {

class OffsetText {
 public:
  explicit OffsetText(Offset offset);
  // NOLINTNEXTLINE(*-explicit-*)
  operator std::string_view() const { return {text_.data(), text_.size()}; }

 private:
  std::array<char, 33> text_;
};
inline std::string offset_text(Offset offset) {
  return std::string(OffsetText(offset));
}

/// Exactly the form above; kInvalid, saying what is allowed, for anything else.
Result<Offset> parse_offset(std::string_view text);

}  // namespace morula
