// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/families.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/float_kernels.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

// The kernels stand in the order of wire::Operator.
template <class T>
constexpr Kernel float_kernels[] = {make_kernel<Plain<T>, Sum>(), make_kernel<Plain<T>, Minimum>(),
                                    make_kernel<Plain<T>, Maximum>(),
                                    make_kernel<Plain<T>, Prod>()};

const Kernel& find_float_kernel(wire::ElementType type, wire::Operator op) {
  const auto index = static_cast<std::size_t>(op);
  return type == wire::ElementType::f32 ? float_kernels<float>[index]
                                        : float_kernels<double>[index];
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_float_kernel);

const Kernel& float_kernel(wire::ElementType type, wire::Operator op) {
  return HWY_DYNAMIC_DISPATCH(find_float_kernel)(type, op);
}

}  // namespace tributary::reduce
#endif
