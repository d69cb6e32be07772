// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/row_masks.h"

#include <algorithm>
#include <cstring>

namespace tributary::panama {

void RowMasks::clear(std::size_t row) {
  std::fill_n(of(row), words_, 0);
}

bool RowMasks::overlap(std::size_t row, const wire::RankMask& mask,
                       const wire::RankMask& leaving) const {
  for (std::size_t i = 0; i < words_; ++i) {
    const auto staying = of(row)[i] & ~(leaving.words() == 0 ? 0 : leaving.word(i));
    if ((staying & mask.word(i)) != 0) {
      return true;
    }
  }
  return false;
}

void RowMasks::add(std::size_t row, const wire::RankMask& mask) {
  for (std::size_t i = 0; i < words_; ++i) {
    of(row)[i] |= mask.word(i);
  }
}

void RowMasks::remove(std::size_t row, const wire::RankMask& mask) {
  for (std::size_t i = 0; i < words_; ++i) {
    of(row)[i] &= ~mask.word(i);
  }
}

void RowMasks::write(std::size_t row, wire::MutableBytes payload) const {
  std::memcpy(payload.last(bytes_each()).data(), of(row), bytes_each());
}

}  // namespace tributary::panama
