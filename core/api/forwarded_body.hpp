// The body of another instance's answer on its way through this one.
//
// Pieces pass on as they come. No more than the window is held here, and that is accounted for from
// before the request was passed on until the body has left, or is given up. A body that was cut on
// its way here is cut for whoever asked here as well; so is one that ends before or after the
// length that it was announced with.
#pragma once

#include "core/base/memory_account.hpp"
#include "core/rt/body_source.hpp"

namespace morula {

class ForwardedBody final : public BodySource {
 public:
  /// `memory` is for the window of `within`.
  ForwardedBody(std::shared_ptr<BodySource> within, MemoryReservation memory)
      : within_(std::move(within)), length_(within_->length()), memory_(std::move(memory)) {}

  std::optional<uint64_t> length() const override { return length_; }
  Result<std::string> next() override;

 private:
  std::shared_ptr<BodySource> within_;
  const std::optional<uint64_t> length_;
  uint64_t passed_on_ = 0;  // bytes
  MemoryReservation memory_;
};

}  // namespace morula
