// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>

namespace tributary::dataplane {

// Every core has learned for itself: of two entries for one key the better is kept.
template <typename Key, typename Row, typename Better>
void keep_better(std::map<Key, Row>& rows, const Key& key, const Row& row, Better better) {
  const auto [position, inserted] = rows.emplace(key, row);
  if (!inserted && better(row, position->second)) {
    position->second = row;
  }
}

}  // namespace tributary::dataplane
