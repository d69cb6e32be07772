// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::host {

class RankSet {
 public:
  explicit RankSet(std::uint32_t ranks) : bits_(ranks) {}
  void clear() {
    bits_.assign(bits_.size(), false);
    size_ = 0;
  }
  void add(std::uint32_t rank) {
    size_ += bits_[rank] ? 0 : 1;
    bits_[rank] = true;
  }
  std::uint32_t size() const { return size_; }
  bool contains(std::uint32_t rank) const { return bits_[rank]; }

 private:
  std::vector<bool> bits_;
  std::uint32_t size_ = 0;
};

}  // namespace tributary::host
