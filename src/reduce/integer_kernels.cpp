// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/integer_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/int4-inl.h"
#include "reduce/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

// The kernels stand in the order of wire::Operator. Operators that wrap, and those on bits, are the
// same for signed and unsigned lanes, and only unsigned ones may wrap in C++.
template <class Signed, class Unsigned>
constexpr Kernel integer_kernels[] = {make_kernel<Plain<Unsigned>, Sum>(),
                                      make_kernel<Plain<Signed>, Minimum>(),
                                      make_kernel<Plain<Signed>, Maximum>(),
                                      make_kernel<Plain<Unsigned>, Prod>(),
                                      make_kernel<Plain<Unsigned>, BitAnd>(),
                                      make_kernel<Plain<Unsigned>, BitOr>(),
                                      make_kernel<Plain<Unsigned>, BitXor>(),
                                      make_kernel<Plain<Unsigned>, Logical<BitAnd>>(),
                                      make_kernel<Plain<Unsigned>, Logical<BitOr>>(),
                                      make_kernel<Plain<Unsigned>, Logical<BitXor>>()};

template <class Op>
constexpr Kernel int4_kernel = make_kernel<Plain<std::uint8_t>, Op>();
constexpr Kernel int4_kernels[] = {int4_kernel<Int4Sum>,
                                   int4_kernel<Int4Ordered<Minimum>>,
                                   int4_kernel<Int4Ordered<Maximum>>,
                                   int4_kernel<Int4Prod>,
                                   int4_kernel<BitAnd>,
                                   int4_kernel<BitOr>,
                                   int4_kernel<BitXor>,
                                   int4_kernel<Logical<BitAnd, Int4Truth>>,
                                   int4_kernel<Logical<BitOr, Int4Truth>>,
                                   int4_kernel<Logical<BitXor, Int4Truth>>};

const Kernel& find_integer_kernel(wire::ElementType type, wire::Operator op) {
  const auto index = static_cast<std::size_t>(op);
  switch (type) {
    case wire::ElementType::i4:
      return int4_kernels[index];
    case wire::ElementType::i8:
      return integer_kernels<std::int8_t, std::uint8_t>[index];
    case wire::ElementType::i16:
      return integer_kernels<std::int16_t, std::uint16_t>[index];
    case wire::ElementType::i32:
      return integer_kernels<std::int32_t, std::uint32_t>[index];
    default:
      return integer_kernels<std::int64_t, std::uint64_t>[index];
  }
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_integer_kernel);

const Kernel& integer_kernel(wire::ElementType type, wire::Operator op) {
  return HWY_DYNAMIC_DISPATCH(find_integer_kernel)(type, op);
}

}  // namespace tributary::reduce
#endif
