// SPDX-License-Identifier: BSD-3-Clause
// This file is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_HOST_SKETCH_CHANCE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_HOST_SKETCH_CHANCE_INL_H
#undef TRIBUTARY_HOST_SKETCH_CHANCE_INL_H
#else
#define TRIBUTARY_HOST_SKETCH_CHANCE_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "host/sketch/chance.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Draws numbers from 0 on and below 1, in 2^24 steps, for the elements from that index on. They
// come from a hash of 32 bits (lowbias32) with the second key in its middle; keys at its beginning
// alone would make of one sequence another one that is shifted.
template <class D>
HWY_INLINE hn::Vec<D> drawn(D d, const Chance& chance, std::size_t index) {
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> integers;
  auto x = hn::Iota(bits, static_cast<std::uint32_t>(chance.passed + index));
  x = hn::Xor(hn::Mul(x, hn::Set(bits, 0x9e3779b9u)), hn::Set(bits, chance.first));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<16>(x)), hn::Set(bits, 0x7feb352du));
  x = hn::Xor(x, hn::Set(bits, chance.second));
  x = hn::Mul(hn::Xor(x, hn::ShiftRight<15>(x)), hn::Set(bits, 0x846ca68bu));
  x = hn::ShiftRight<8>(hn::Xor(x, hn::ShiftRight<16>(x)));
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(integers, x)), hn::Set(d, 0x1p-24f));
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
