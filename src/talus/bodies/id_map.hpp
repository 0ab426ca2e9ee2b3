// IdMap: from a body's stable id to its present index. Dense where ids are, sorted otherwise. Where there are several (a
// body and its periodic images) the first, so the owned one if there is one.
#pragma once
#include <algorithm>
#include <utility>

#include "talus/base/array.hpp"
#include "talus/base/types.hpp"

namespace talus {

class IdMap {
 public:
  void build(const Array<Global>& id) {
    const Local n = static_cast<Local>(id.size());
    Global largest = -1;
    for (Global i : id) largest = std::max(largest, i);
    dense_.clear();
    sorted_.clear();
    if (largest < 16 * static_cast<Global>(n) + 64) {
      dense_.assign(largest + 1, -1);
      for (Local i = n - 1; i >= 0; --i) dense_[id[i]] = i;
    } else {
      for (Local i = 0; i < n; ++i) sorted_.emplace_back(id[i], i);
      std::sort(sorted_.begin(), sorted_.end());
    }
  }
  /// The index of the body, −1 when it is not here.
  Local find(Global id) const {
    if (sorted_.empty()) return id >= 0 && id < static_cast<Global>(dense_.size()) ? dense_[id] : -1;
    const auto it = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair<Global, Local>(id, -1));
    return it != sorted_.end() && it->first == id ? it->second : -1;
  }

 private:
  Array<Local> dense_;
  Array<std::pair<Global, Local>> sorted_;
};

}  // namespace talus
