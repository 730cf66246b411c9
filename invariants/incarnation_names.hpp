// Steps name incarnations by their text; checkers need the name apart. Each is parsed once.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/base/ids.hpp"

namespace morula::invariants {

class IncarnationNames {
 public:
  /// Null when `text` is no incarnation. The pointer stays valid.
  const IncarnationId* parse(std::string_view text) {
    auto known = parsed_.find(text);
    if (known == parsed_.end()) {
      auto id = IncarnationId::parse(text);
      if (!id) return nullptr;
      known = parsed_.emplace(std::string(text), *std::move(id)).first;
    }
    return &known->second;
  }

 private:
  std::map<std::string, IncarnationId, std::less<>> parsed_;
};

}  // namespace morula::invariants
