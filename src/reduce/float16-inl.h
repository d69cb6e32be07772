// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_FLOAT16_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_FLOAT16_INL_H
#undef TRIBUTARY_REDUCE_FLOAT16_INL_H
#else
#define TRIBUTARY_REDUCE_FLOAT16_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// These take the 16 bits of each element to the low half of a 32-bit lane, and back.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> load_bits16(D, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<std::uint16_t, D> d16;
  return hn::PromoteTo(d32, hn::LoadU(d16, from));
}

template <class D, class V>
HWY_INLINE void store_bits16(D, V bits, std::uint16_t* to) {
  const hn::RebindToSigned<D> d32;
  const hn::Rebind<std::uint16_t, D> d16;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(d32, bits)), d16, to);  // saturates; never has to
}

// The formats follow reduce/float16.h step by step; see there for why.

struct Bfloat16Format {
  using Element = std::uint16_t;
  using Lane = float;
  static constexpr bool in_place = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const Element* from) {
    return hn::BitCast(d, hn::ShiftLeft<16>(load_bits16(d, from)));
  }
  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, Element* to) {
    const hn::RebindToUnsigned<D> d32;
    const auto bits = hn::BitCast(d32, value);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(d32, 1u));
    const auto rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(d32, 0x7fffu))));
    const auto quiet = hn::Or(upper, hn::Set(d32, 0x40u));
    const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
    store_bits16(d, hn::IfThenElse(is_nan, quiet, rounded), to);
  }
};

// Targets without conversion instructions convert in software.
template <class D>
HWY_INLINE hn::Vec<D> widen_half(D d, const std::uint16_t* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::RebindToSigned<D> di32;  // signed comparison is native everywhere
  const auto bits = load_bits16(d, from);
  const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(d32, 0x7fffu)));
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(d32, 0x8000u)));
  const auto finite = hn::BitCast(d32, hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f)));
  const auto above = [=](std::uint32_t limit) HWY_ATTR {
    const auto greater =
        hn::Gt(hn::BitCast(di32, magnitude), hn::Set(di32, static_cast<std::int32_t>(limit)));
    return hn::RebindMask(d32, greater);
  };
  const auto quiet = hn::IfThenElseZero(above(0x7c00u << 13), hn::Set(d32, 0x00400000u));
  const auto special = hn::Or(hn::Or(magnitude, quiet), hn::Set(d32, 0x7f800000u));
  const auto result = hn::IfThenElse(above((0x7c00u << 13) - 1), special, finite);
  return hn::BitCast(d, hn::Or(sign, result));
}

template <class D>
HWY_INLINE void narrow_half(D d, hn::Vec<D> value, std::uint16_t* to) {
  const hn::RebindToUnsigned<D> d32;
  const hn::RebindToSigned<D> di32;
  const auto bits = hn::BitCast(d32, value);
  const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fffffffu));
  const auto sign = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 0x8000u));
  const auto above = [=](std::uint32_t limit) HWY_ATTR {
    const auto greater =
        hn::Gt(hn::BitCast(di32, magnitude), hn::Set(di32, static_cast<std::int32_t>(limit)));
    return hn::RebindMask(d32, greater);
  };
  const auto payload = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 0x3ffu));
  const auto nan = hn::Or(payload, hn::Set(d32, 0x7e00u));
  const auto shifted = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(d32, shifted), hn::BitCast(d32, hn::Set(d, 0.5f)));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(d32, 1u));
  const auto biased = hn::Sub(magnitude, hn::Set(d32, (112u << 23) - 0xfffu));
  const auto normal = hn::ShiftRight<13>(hn::Add(biased, odd));
  auto result = hn::IfThenElse(above(0x387fffffu), normal, subnormal);
  result = hn::IfThenElse(above(0x477fffffu), hn::Set(d32, 0x7c00u), result);
  result = hn::IfThenElse(above(0x7f800000u), nan, result);
  store_bits16(d, hn::Or(sign, result), to);
}

struct HalfFormat {
  using Element = std::uint16_t;
  using Lane = float;
  static constexpr bool in_place = false;
  static constexpr bool has_instructions = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const Element* from) {
    if constexpr (has_instructions) {
      const hn::Rebind<std::uint16_t, D> d16;
      const hn::Rebind<hwy::float16_t, D> half;
      return hn::PromoteTo(d, hn::BitCast(half, hn::LoadU(d16, from)));
    } else {
      return widen_half(d, from);
    }
  }
  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, Element* to) {
    if constexpr (has_instructions) {
      const hn::Rebind<std::uint16_t, D> d16;
      const hn::Rebind<hwy::float16_t, D> half;
      hn::StoreU(hn::BitCast(d16, hn::DemoteTo(half, value)), d16, to);
    } else {
      narrow_half(d, value, to);
    }
  }
};

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
