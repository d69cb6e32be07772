// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_INT4_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_INT4_INL_H
#undef TRIBUTARY_REDUCE_INT4_INL_H
#else
#define TRIBUTARY_REDUCE_INT4_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "reduce/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// These operators are for lanes of unsigned bytes that hold two integers of four bits each. Bitwise
// ones are those of bytes.

template <class D, class V>
HWY_INLINE V low_half(D d, V v) {
  return hn::And(v, hn::Set(d, std::uint8_t{0x0f}));
}

template <class D, class V>
HWY_INLINE V high_half(D d, V v) {
  return hn::And(v, hn::Set(d, std::uint8_t{0xf0}));
}

struct Int4Sum {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto high = hn::Add(high_half(d, a), high_half(d, b));
    return hn::Or(high, low_half(d, hn::Add(a, b)));
  }
};

// Sixteen times one factor is sixteen times the product.
struct Int4Prod {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const auto high = Prod::apply(d, high_half(d, a), hn::ShiftRight<4>(b));
    return hn::Or(high, low_half(d, Prod::apply(d, a, b)));
  }
};

// In the upper half of a byte, four bits are ordered as eight are.
template <class Op>
struct Int4Ordered {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    const hn::RebindToSigned<D> as_signed;
    const auto choose = [=](V x, V y) HWY_ATTR {
      return hn::BitCast(
          d, Op::apply(as_signed, hn::BitCast(as_signed, x), hn::BitCast(as_signed, y)));
    };
    const auto high = choose(high_half(d, a), high_half(d, b));
    const auto low = choose(hn::ShiftLeft<4>(a), hn::ShiftLeft<4>(b));
    return hn::Or(high, hn::ShiftRight<4>(low));
  }
};

// Returns 1 in each half that is not 0: that is the bit above its three lower ones, when 7 is added
// to these, or its own highest bit.
struct Int4Truth {
  template <class D, class V>
  static HWY_INLINE V of(D d, V v) {
    const auto sevens = hn::Set(d, std::uint8_t{0x77});
    const auto above = hn::Or(hn::Add(hn::And(v, sevens), sevens), v);
    return hn::And(hn::ShiftRight<3>(above), hn::Set(d, std::uint8_t{0x11}));
  }
};

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
