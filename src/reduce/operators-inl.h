// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_OPERATORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_OPERATORS_INL_H
#undef TRIBUTARY_REDUCE_OPERATORS_INL_H
#else
#define TRIBUTARY_REDUCE_OPERATORS_INL_H
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each operator reduces two vectors of lanes described by the tag D.

struct Sum {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Add(a, b);
  }
};

struct Prod {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    using Lane = hn::TFromD<D>;
    if constexpr (sizeof(Lane) == 1 && HWY_TARGET == HWY_SCALAR) {
      return hn::Set(d, static_cast<Lane>(hn::GetLane(a) * hn::GetLane(b)));
    } else if constexpr (sizeof(Lane) == 1) {
      // No target multiplies bytes: as 16-bit lanes, the low byte of each product counts.
      const hn::RepartitionToWide<D> wide;
      const auto a16 = hn::BitCast(wide, a);
      const auto b16 = hn::BitCast(wide, b);
      const auto even = hn::And(hn::Mul(a16, b16), hn::Set(wide, 0x00ff));
      const auto odd = hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16));
      return hn::BitCast(d, hn::Or(even, hn::ShiftLeft<8>(odd)));
    } else {
      return hn::Mul(a, b);
    }
  }
};

// Instructions differ in which operand wins when one is NaN; hence it is selected explicitly.
template <class D, class V>
HWY_INLINE V nan_of_either(D, V a, V b, V otherwise) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::IsNaN(b), b, otherwise));
  } else {
    return otherwise;
  }
}

struct Minimum {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    return nan_of_either(d, a, b, hn::Min(a, b));
  }
};

struct Maximum {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    return nan_of_either(d, a, b, hn::Max(a, b));
  }
};

struct BitAnd {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::And(a, b);
  }
};

struct BitOr {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Or(a, b);
  }
};

struct BitXor {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Xor(a, b);
  }
};

// Returns 1 in each lane that is not 0.
struct Truth {
  template <class D, class V>
  static HWY_INLINE V of(D d, V v) {
    return hn::IfThenElseZero(hn::Ne(v, hn::Zero(d)), hn::Set(d, hn::TFromD<D>{1}));
  }
};

// Logical operators take integers, which stand for true where they are not 0.
template <class Bitwise, class TruthOf = Truth>
struct Logical {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b) {
    return Bitwise::apply(d, TruthOf::of(d, a), TruthOf::of(d, b));
  }
};

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
