// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/float16_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/float16-inl.h"
#include "reduce/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

// The kernels stand in the order of wire::Operator.
template <class Format>
constexpr Kernel float16_kernels[] = {make_kernel<Format, Sum>(), make_kernel<Format, Minimum>(),
                                      make_kernel<Format, Maximum>(), make_kernel<Format, Prod>()};

const Kernel& find_float16_kernel(wire::ElementType type, wire::Operator op) {
  const auto index = static_cast<std::size_t>(op);
  return type == wire::ElementType::f16 ? float16_kernels<HalfFormat>[index]
                                        : float16_kernels<Bfloat16Format>[index];
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_float16_kernel);

const Kernel& float16_kernel(wire::ElementType type, wire::Operator op) {
  return HWY_DYNAMIC_DISPATCH(find_float16_kernel)(type, op);
}

}  // namespace tributary::reduce
#endif
