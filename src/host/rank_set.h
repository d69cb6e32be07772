// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::host {

class RankSet {
 public:
  explicit RankSet(std::uint32_t ranks) : bits_(ranks) {}
  void clear() { bits_.assign(bits_.size(), false); }
  void add(std::uint32_t rank) { bits_[rank] = true; }
  bool contains(std::uint32_t rank) const { return bits_[rank]; }

 private:
  std::vector<bool> bits_;
};

}  // namespace tributary::host
