// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_FLOAT8_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_FLOAT8_INL_H
#undef TRIBUTARY_REDUCE_FLOAT8_INL_H
#else
#define TRIBUTARY_REDUCE_FLOAT8_INL_H
#endif

#include <cstdint>

#include <hwy/highway.h>

#include "reduce/float8.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The steps follow reduce/float8.h one by one; see there for why.
template <class Layout>
struct Float8Format {
  using Element = std::uint8_t;
  using Lane = float;
  static constexpr bool in_place = false;
  using Constants = Float8Constants<Layout>;
  static constexpr int shift = Constants::shift;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const Element* from) {
    const hn::RebindToUnsigned<D> d32;
    const hn::Rebind<Element, D> d8;
    const auto bits = hn::PromoteTo(d32, hn::LoadU(d8, from));
    const auto sign = hn::ShiftLeft<24>(hn::And(bits, hn::Set(d32, 0x80u)));
    const auto shifted = hn::ShiftLeft<shift>(hn::And(bits, hn::Set(d32, 0x7fu)));
    const auto finite = hn::Mul(hn::BitCast(d, shifted), hn::Set(d, Constants::rebias));
    constexpr std::uint32_t greatest = Layout::greatest << shift;
    constexpr std::uint32_t infinity = greatest + (1u << shift);
    const auto quiet = hn::Set(d32, 0x00400000u);
    auto special = hn::Or(shifted, hn::Set(d32, 0x7f800000u));
    special = hn::Or(special, Layout::has_infinity
                                  ? hn::IfThenElseZero(is_above(d32, shifted, infinity), quiet)
                                  : quiet);
    const auto value =
        hn::IfThenElse(is_above(d32, shifted, greatest), special, hn::BitCast(d32, finite));
    return hn::BitCast(d, hn::Or(sign, value));
  }

  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, Element* to) {
    const hn::RebindToUnsigned<D> d32;
    const auto bits = hn::BitCast(d32, value);
    const auto sign = hn::And(hn::ShiftRight<24>(bits), hn::Set(d32, 0x80u));
    const auto magnitude = hn::And(bits, hn::Set(d32, 0x7fffffffu));
    const auto upper = hn::ShiftRight<shift>(magnitude);
    const auto nan =
        hn::Or(hn::And(upper, hn::Set(d32, Constants::payload)), hn::Set(d32, Constants::nan));
    const auto unit = hn::Set(d32, Constants::subnormal_unit);
    const auto sum = hn::Add(hn::BitCast(d, magnitude), hn::BitCast(d, unit));
    const auto subnormal = hn::Sub(hn::BitCast(d32, sum), unit);
    const auto odd = hn::And(upper, hn::Set(d32, 1u));
    const auto biased =
        hn::Sub(magnitude, hn::Set(d32, Constants::bias_apart - Constants::below_half));
    const auto rounded = hn::ShiftRight<shift>(hn::Add(biased, odd));
    const auto greatest = hn::Set(d32, std::uint32_t{Layout::greatest});
    const auto normal = hn::IfThenElse(is_above(d32, rounded, Layout::greatest), greatest, rounded);
    auto result =
        hn::IfThenElse(is_above(d32, magnitude, Constants::normal_min - 1), normal, subnormal);
    if constexpr (Layout::has_infinity) {
      const auto infinity = hn::Set(d32, Layout::greatest + 1);
      result = hn::IfThenElse(is_above(d32, magnitude, 0x7f7fffffu), infinity, result);
    }
    result = hn::IfThenElse(is_above(d32, magnitude, 0x7f800000u), nan, result);
    store(d, hn::Or(sign, result), to);
  }

 private:
  // The numbers are below 2^31, so that signed comparison will do, which is native everywhere.
  template <class D32, class V>
  static HWY_INLINE hn::Mask<D32> is_above(D32 d32, V v, std::uint32_t limit) {
    const hn::RebindToSigned<D32> di32;
    const auto than = hn::Set(di32, static_cast<std::int32_t>(limit));
    return hn::RebindMask(d32, hn::Gt(hn::BitCast(di32, v), than));
  }

  template <class D, class V>
  static HWY_INLINE void store(D, V bits, Element* to) {
    const hn::RebindToSigned<D> di32;
    const hn::Rebind<Element, D> d8;
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, bits)), d8, to);  // saturates; never has to
  }
};

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
