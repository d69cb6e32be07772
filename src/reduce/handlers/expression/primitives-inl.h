// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_PRIMITIVES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_PRIMITIVES_INL_H
#undef TRIBUTARY_REDUCE_PRIMITIVES_INL_H
#else
#define TRIBUTARY_REDUCE_PRIMITIVES_INL_H
#endif

#include <bit>
#include <type_traits>

#include <hwy/highway.h>

#include "reduce/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// These are the operations of expressions (program.h), each of which takes three operands or leaves
// some out.

template <class Op>
struct Binary {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return Op::apply(d, a, b);
  }
};

// Integers are computed as unsigned ones, since those may wrap.
template <class Op>
struct Wrapping {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return Op::apply(d, a, b);
    } else {
      const hn::RebindToUnsigned<D> bits;
      return hn::BitCast(d, Op::apply(bits, hn::BitCast(bits, a), hn::BitCast(bits, b)));
    }
  }
};

struct Difference {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b) {
    return hn::Sub(a, b);
  }
};

struct Division {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V b, V /*c*/) {
    return hn::Div(a, b);
  }
};

struct SquareRoot {
  template <class D, class V>
  static HWY_INLINE V apply(D, V a, V /*b*/, V /*c*/) {
    return hn::Sqrt(a);
  }
};

// Unlike the kernels' minimum, this takes the second of two zeros on every CPU.
struct Least {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return nan_of_either(d, a, b, hn::IfThenElse(hn::Lt(a, b), a, b));
  }
};

struct Greatest {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return nan_of_either(d, a, b, hn::IfThenElse(hn::Lt(b, a), a, b));
  }
};

// Returns 1 in each lane in which something holds, and 0 in the others.
template <class D, class M>
HWY_INLINE hn::Vec<D> truth_of(D d, M mask) {
  return hn::IfThenElseZero(mask, hn::Set(d, hn::TFromD<D>{1}));
}

struct Less {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return truth_of(d, hn::Lt(a, b));
  }
};

struct LessEqual {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return truth_of(d, hn::Le(a, b));
    } else {
      return hn::Xor(truth_of(d, hn::Lt(b, a)), hn::Set(d, hn::TFromD<D>{1}));
    }
  }
};

struct Equal {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return truth_of(d, hn::Eq(a, b));
  }
};

struct NotEqual {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return truth_of(d, hn::Not(hn::Eq(a, b)));  // Ne() of a NaN differs between CPUs
  }
};

// Bitwise combines two truths, each of which is 1 or 0: whatever is not zero counts as 1.
template <class Bitwise>
struct Truths {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V c) {
    const auto zero = hn::Zero(d);
    return Bitwise::apply(d, NotEqual::apply(d, a, zero, c), NotEqual::apply(d, b, zero, c));
  }
};

struct Negate {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V /*b*/, V c) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Neg(a);
    } else {
      return Wrapping<Difference>::apply(d, hn::Zero(d), a, c);
    }
  }
};

struct Absolute {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V c) {
    if constexpr (hwy::IsFloat<hn::TFromD<D>>()) {
      return hn::Abs(a);
    } else {
      return hn::Max(a, Negate::apply(d, a, b, c));
    }
  }
};

struct Select {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V c) {
    return hn::IfThenElse(hn::Eq(a, hn::Zero(d)), c, b);
  }
};

// A shift by as many bits as a lane has, or more, would differ between CPUs.
template <class D, class V>
HWY_INLINE V shift_of(D d, V b) {
  return hn::And(b, hn::Set(d, static_cast<hn::TFromD<D>>(8 * sizeof(hn::TFromD<D>) - 1)));
}

struct LeftShift {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return hn::Shl(a, shift_of(d, b));
  }
};

struct RightShift {
  template <class D, class V>
  static HWY_INLINE V apply(D d, V a, V b, V /*c*/) {
    return hn::Shr(a, shift_of(d, b));
  }
};

// Vectors of integers have no such instruction. No operand has an outcome that is undefined.

struct Quotient {
  template <class T>
  static HWY_INLINE T apply(T a, T b) {
    using Bits = std::make_unsigned_t<T>;
    if (b == 0) {
      return 0;
    }
    return b == -1 ? static_cast<T>(Bits{0} - static_cast<Bits>(a)) : a / b;
  }
};

struct Remainder {
  template <class T>
  static HWY_INLINE T apply(T a, T b) {
    return b == 0 || b == -1 ? 0 : a % b;
  }
};

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
