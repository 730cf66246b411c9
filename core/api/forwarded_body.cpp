#include "core/api/forwarded_body.hpp"

#include "core/base/mutant.hpp"

namespace morula {

Result<std::string> ForwardedBody::next() {
  auto piece = within_->next();
  if (!piece && mutated(Mutant::cut_body_passes_as_whole)) return std::string();
  MORULA_TRY(piece);
  passed_on_ += piece->size();
  if (length_ && (piece->empty() ? passed_on_ != *length_ : passed_on_ > *length_)) {
    return fail(ErrorCode::kUnavailable, "a body of " + std::to_string(*length_) +
                                             " bytes ended at " + std::to_string(passed_on_));
  }
  return piece;
}

}  // namespace morula
