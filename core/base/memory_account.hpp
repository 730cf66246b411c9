// Memory as a tree of named accounts, so that what an instance holds can be told, and refused
// before it is taken.
//
// An account has what was reserved of it, what a gauge says that is there, and its children. A part
// may be *set aside*: an account draws on its parent for at least so much, whether it uses it or
// not, so nobody else can take it. A reservation that does not fit an account or one above it is
// refused, and changes nothing. What is there whatever anybody says (a cache's blocks, an accepted
// connection) is *held* without being asked for; who sets enough aside for it stays within the
// limit.
//
// One thread. Nothing suspends. Accounts outlive their reservations and their children's accounts.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace morula {

class MemoryAccount;

/// Bytes of an account, given back when this goes. Movable. One without an account counts nothing,
/// and is never refused.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  ~MemoryReservation() { give_back(); }
  MemoryReservation(MemoryReservation&& other) noexcept { swap(other); }
  MemoryReservation& operator=(MemoryReservation&& other) noexcept {
    MemoryReservation old(std::move(other));
    swap(old);
    return *this;
  }

  uint64_t bytes() const { return bytes_; }
  /// kBusy: it does not fit, nothing has changed. Shrinking always succeeds.
  Result<> try_resize(uint64_t bytes);
  /// Whatever the limits: for what is there already.
  void resize(uint64_t bytes);

 private:
  friend class MemoryAccount;
  MemoryReservation(MemoryAccount& account, uint64_t bytes) : account_(&account), bytes_(bytes) {}
  void give_back();
  void swap(MemoryReservation& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
  }

  MemoryAccount* account_ = nullptr;
  uint64_t bytes_ = 0;
};

class MemoryAccount {
 public:
  /// `name` is part of messages and metrics: "block_cache".
  MemoryAccount(std::string_view name, uint64_t limit_bytes) : name_(name), limit_(limit_bytes) {}
  /// Of `parent`, until it is destroyed.
  MemoryAccount(MemoryAccount& parent, std::string_view name, uint64_t limit_bytes,
                uint64_t set_aside_bytes = 0);
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// kBusy, naming the account that is full.
  Result<MemoryReservation> try_reserve(uint64_t bytes);
  /// Whatever the limits.
  MemoryReservation hold(uint64_t bytes);
  /// What is there besides reservations, as `gauge` says whenever it is asked; null: nothing.
  void measure(std::function<uint64_t()> gauge) { gauge_ = std::move(gauge); }

  /// All that is in use here and in the children.
  uint64_t used() const;
  /// What this draws on its parent: as `used`, with what is set aside.
  uint64_t drawn() const;
  /// The most that `drawn` has been after a reservation was made.
  uint64_t peak() const { return peak_; }
  uint64_t limit() const { return limit_; }
  uint64_t set_aside() const { return set_aside_; }
  const std::string& name() const { return name_; }
  const std::vector<MemoryAccount*>& children() const { return children_; }

 private:
  friend class MemoryReservation;
  /// The reservations and what the gauge says.
  uint64_t own() const { return reserved_ + (gauge_ ? gauge_() : 0); }
  /// Own, and what the children draw.
  uint64_t taken() const;
  /// The account, from here upwards, that has no room for `bytes` more; null: all have.
  const MemoryAccount* full_for(uint64_t bytes) const;
  Result<> try_change(uint64_t from, uint64_t to);
  void change(uint64_t from, uint64_t to);

  const std::string name_;
  const uint64_t limit_;
  const uint64_t set_aside_ = 0;
  MemoryAccount* parent_ = nullptr;
  std::vector<MemoryAccount*> children_;
  std::function<uint64_t()> gauge_;
  uint64_t reserved_ = 0;
  uint64_t peak_ = 0;
};

}  // namespace morula
