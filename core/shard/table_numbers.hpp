// Numbers of an incarnation's tables: each is drawn once, for whichever shard.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

namespace morula {

class TableNumbers {
 public:
  /// A number that is in use by an upload, until the manifest that names the table is known to have
  /// landed, or never will.
  class Draft {
   public:
    Draft(TableNumbers& numbers, uint64_t number) : numbers_(numbers), number_(number) {}
    ~Draft() { numbers_.drafts_.erase(number_); }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    uint64_t number() const { return number_; }

   private:
    TableNumbers& numbers_;
    uint64_t number_;
  };

  std::shared_ptr<const Draft> draw() {
    drafts_.insert(next_);
    return std::make_shared<const Draft>(*this, next_++);
  }
  /// Of no table below it is the upload under way or the naming open: one that no manifest names is
  /// garbage (OWNERSHIP R8).
  uint64_t floor() const { return drafts_.empty() ? next_ : *drafts_.begin(); }

 private:
  uint64_t next_ = 0;
  std::set<uint64_t> drafts_;
};

}  // namespace morula
