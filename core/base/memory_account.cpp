#include "core/base/memory_account.hpp"

#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/mutant.hpp"

namespace morula {

Result<> MemoryReservation::try_resize(uint64_t bytes) {
  if (account_ != nullptr) MORULA_TRY(account_->try_change(bytes_, bytes));
  bytes_ = bytes;
  return {};
}

void MemoryReservation::resize(uint64_t bytes) {
  if (account_ != nullptr) account_->change(bytes_, bytes);
  bytes_ = bytes;
}

void MemoryReservation::give_back() {
  if (mutated(Mutant::reservation_leak)) return;
  resize(0);
}

MemoryAccount::MemoryAccount(MemoryAccount& parent, std::string_view name, uint64_t limit_bytes,
                             uint64_t set_aside_bytes)
    : name_(name), limit_(limit_bytes), set_aside_(set_aside_bytes), parent_(&parent) {
  MORULA_CHECK(set_aside_ <= limit_, "an account has room for what is set aside for it");
  parent_->children_.push_back(this);
}

MemoryAccount::~MemoryAccount() {
  MORULA_CHECK(children_.empty(), "an account outlives its children");
  if (parent_ != nullptr) std::erase(parent_->children_, this);
}

Result<MemoryReservation> MemoryAccount::try_reserve(uint64_t bytes) {
  MORULA_TRY(try_change(0, bytes));
  return MemoryReservation(*this, bytes);
}

MemoryReservation MemoryAccount::hold(uint64_t bytes) {
  change(0, bytes);
  return {*this, bytes};
}

uint64_t MemoryAccount::used() const {
  uint64_t sum = own();
  for (const MemoryAccount* child : children_) sum += child->used();
  return sum;
}

uint64_t MemoryAccount::taken() const {
  uint64_t sum = own();
  for (const MemoryAccount* child : children_) sum += child->drawn();
  return sum;
}

uint64_t MemoryAccount::drawn() const {
  return std::max(taken(), set_aside_);
}

const MemoryAccount* MemoryAccount::full_for(uint64_t bytes) const {
  const uint64_t before = taken();
  if (before > limit_ || bytes > limit_ - before) return this;
  if (parent_ == nullptr) return nullptr;
  const uint64_t more = std::max(before + bytes, set_aside_) - std::max(before, set_aside_);
  return more == 0 ? nullptr : parent_->full_for(more);
}

Result<> MemoryAccount::try_change(uint64_t from, uint64_t to) {
  const MemoryAccount* full = to > from ? full_for(to - from) : nullptr;
  if (full != nullptr) {
    return fail(Error{ErrorCode::kBusy, "the memory for " + full->name_ + " is in use, " +
                                            std::to_string(full->limit_) + " bytes"});
  }
  change(from, to);
  return {};
}

void MemoryAccount::change(uint64_t from, uint64_t to) {
  MORULA_CHECK(reserved_ >= from, "more is given back than was reserved");
  reserved_ += to - from;
  if (to <= from) return;
  for (MemoryAccount* account = this; account != nullptr; account = account->parent_) {
    account->peak_ = std::max(account->peak_, account->drawn());
  }
}

}  // namespace morula
