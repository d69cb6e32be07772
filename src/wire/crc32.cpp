// SPDX-License-Identifier: BSD-3-Clause
#include "wire/crc32.h"

#include <vector>

#define HWY_WANT_AVX3_DL
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "wire/crc32.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "wire/crc32-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::wire::HWY_NAMESPACE {

std::uint32_t crc32_from(std::uint32_t crc, Bytes bytes) {
  return ~continue_crc32(~crc, bytes);
}

Crc32Pair crc32_of_two(Bytes first, Bytes second) {
  return {~continue_crc32(~0u, first), ~continue_crc32(~0u, second)};
}

}  // namespace tributary::wire::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::wire {

HWY_EXPORT(crc32_from);
HWY_EXPORT(crc32_of_two);

std::uint32_t crc32(std::uint32_t crc, Bytes bytes) {
  return HWY_DYNAMIC_DISPATCH(crc32_from)(crc, bytes);
}

Crc32Pair crc32_pair(Bytes first, Bytes second) {
  return HWY_DYNAMIC_DISPATCH(crc32_of_two)(first, second);
}

Crc32Joint::Crc32Joint(std::size_t bytes) {
  const std::vector<std::byte> zeros(bytes);
  for (unsigned table = 0; table < tables_.size(); ++table) {
    tables_[table][0] = 0;
    for (unsigned bit = 0; bit < 8; ++bit) {
      // crc32() complements CRCs at both ends, which is undone here.
      const auto image = ~crc32(~(1u << (8 * table + bit)), zeros);
      for (unsigned rest = 0; rest < 1u << bit; ++rest) {
        tables_[table][(1u << bit) + rest] = image ^ tables_[table][rest];
      }
    }
  }
}

}  // namespace tributary::wire
#endif
