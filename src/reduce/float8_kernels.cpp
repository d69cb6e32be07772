// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/float8_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/float8-inl.h"
#include "reduce/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

// The kernels stand in the order of wire::Operator.
template <class Format>
constexpr Kernel float8_kernels[] = {make_kernel<Format, Sum>(), make_kernel<Format, Minimum>(),
                                     make_kernel<Format, Maximum>(), make_kernel<Format, Prod>()};

const Kernel& find_float8_kernel(wire::ElementType type, wire::Operator op) {
  const auto index = static_cast<std::size_t>(op);
  return type == wire::ElementType::f8e4m3 ? float8_kernels<Float8Format<E4m3>>[index]
                                           : float8_kernels<Float8Format<E5m2>>[index];
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_float8_kernel);

const Kernel& float8_kernel(wire::ElementType type, wire::Operator op) {
  return HWY_DYNAMIC_DISPATCH(find_float8_kernel)(type, op);
}

}  // namespace tributary::reduce
#endif
