// The rows of one stream that change together, on their way into memtable and log.
//
// Keys and values lie one after the other in one piece of memory, which is kept for the next
// change: a change that is made again and again allocates nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.hpp"
#include "core/lsm/row.hpp"

namespace morula {

class ChangedRows {
 public:
  struct TreeRow {
    Tree tree;
    RowView row;
  };

  /// Adds a row. Its value is what is appended to the returned string before anything else is
  /// called here.
  std::string& add(Tree tree, std::string_view key, bool deleted = false) {
    rows_.push_back({tree, deleted, change_, bytes_.size(), bytes_.size() + key.size()});
    return bytes_.append(key);
  }
  /// Of the rows that are added from now on.
  void set_change(ChangeNumber change) { change_ = change; }

  size_t size() const { return rows_.size(); }
  /// Valid until the rows change.
  TreeRow operator[](size_t i) const {
    const Place& at = rows_[i];
    const size_t end = i + 1 < rows_.size() ? rows_[i + 1].key : bytes_.size();
    const std::string_view bytes = bytes_;
    return {at.tree,
            {bytes.substr(at.key, at.value - at.key), at.change, at.deleted,
             bytes.substr(at.value, end - at.value)}};
  }

  void clear() {
    rows_.clear();
    bytes_.clear();
    if (bytes_.capacity() > kKeptBytes) std::string().swap(bytes_);
  }

 private:
  static constexpr size_t kKeptBytes = 64 * kKiB;
  struct Place {
    Tree tree;
    bool deleted;
    ChangeNumber change;
    size_t key;
    size_t value;
  };
  std::vector<Place> rows_;
  std::string bytes_;
  ChangeNumber change_;
};

}  // namespace morula
