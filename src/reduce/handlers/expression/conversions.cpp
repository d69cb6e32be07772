// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/primitives.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/handlers/expression/conversions.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

// Integers are computed in lanes of twice their size or more.
template <class Narrow, class Wide>
struct Promoted {
  using Element = Narrow;
  using Lane = Wide;
  static constexpr bool in_place = false;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const Element* from) {
    const hn::Rebind<Element, D> narrow_d;
    return hn::PromoteTo(d, hn::LoadU(narrow_d, from));
  }
  template <class D>
  static HWY_INLINE void narrow(D, hn::Vec<D> value, Element* to) {
    const hn::RebindToUnsigned<D> wide_bits;
    const hn::Rebind<hwy::MakeUnsigned<Element>, D> narrow_bits;
    const hn::Rebind<Element, D> narrow_d;
    const auto cut = hn::TruncateTo(narrow_bits, hn::BitCast(wide_bits, value));
    hn::StoreU(hn::BitCast(narrow_d, cut), narrow_d, to);
  }
};

template <class Narrow, class Wide>
constexpr Conversion promotion = {&load<Promoted<Narrow, Wide>>, &store<Promoted<Narrow, Wide>>};

Conversion find_promotion(wire::ElementType type) {
  switch (type) {
    case wire::ElementType::i8:
      return promotion<std::int8_t, std::int32_t>;
    case wire::ElementType::i16:
      return promotion<std::int16_t, std::int32_t>;
    default:
      return promotion<std::int32_t, std::int64_t>;
  }
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_promotion);

// Elements that are computed as they are, and floats, are converted by the kernels' functions.
Conversion conversion(wire::ElementType type) {
  if (wire::is_integer(type) && type != wire::ElementType::i64) {
    return HWY_DYNAMIC_DISPATCH(find_promotion)(type);
  }
  const auto& same = kernel(type, wire::Operator::sum);
  return {same.load, same.store};
}

}  // namespace tributary::reduce
#endif
