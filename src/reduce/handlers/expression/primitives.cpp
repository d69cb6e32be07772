// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/expression/primitives.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reduce/handlers/expression/primitives.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h must come before what is compiled per target.
#include <hwy/highway.h>

#include "reduce/handlers/expression/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {

template <class T, class Op>
void run_vectors(void* to, const void* a, const void* b, const void* c, std::size_t n) {
  const hn::ScalableTag<T> d;
  auto* const target = static_cast<T*>(to);
  const auto* const first = static_cast<const T*>(a);
  const auto* const second = static_cast<const T*>(b);
  const auto* const third = static_cast<const T*>(c);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto result =
        Op::apply(d, hn::Load(d, first + i), hn::Load(d, second + i), hn::Load(d, third + i));
    hn::Store(result, d, target + i);
  }
}

template <class T, class Op>
void run_numbers(void* to, const void* a, const void* b, const void* /*c*/, std::size_t n) {
  auto* const target = static_cast<T*>(to);
  const auto* const first = static_cast<const T*>(a);
  const auto* const second = static_cast<const T*>(b);
  for (std::size_t i = 0; i < n; ++i) {
    target[i] = Op::apply(first[i], second[i]);
  }
}

template <class T>
void fill(void* to, std::uint64_t bits, std::size_t n) {
  const hn::ScalableTag<T> d;
  const auto value = hn::Set(d, std::bit_cast<T>(static_cast<hwy::MakeUnsigned<T>>(bits)));
  auto* const target = static_cast<T*>(to);
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::Store(value, d, target + i);
  }
}

constexpr Primitive& at(Primitives& table, Operation operation) {
  return table.of[static_cast<std::size_t>(operation)];
}

template <class T>
constexpr Primitives common_primitives() {
  Primitives table{};
  table.fill = &fill<T>;
  at(table, Operation::add) = &run_vectors<T, Wrapping<Sum>>;
  at(table, Operation::subtract) = &run_vectors<T, Wrapping<Difference>>;
  at(table, Operation::multiply) = &run_vectors<T, Wrapping<Prod>>;
  at(table, Operation::minimum) = &run_vectors<T, Least>;
  at(table, Operation::maximum) = &run_vectors<T, Greatest>;
  at(table, Operation::less) = &run_vectors<T, Less>;
  at(table, Operation::less_equal) = &run_vectors<T, LessEqual>;
  at(table, Operation::equal) = &run_vectors<T, Equal>;
  at(table, Operation::not_equal) = &run_vectors<T, NotEqual>;
  at(table, Operation::both) = &run_vectors<T, Truths<BitAnd>>;
  at(table, Operation::either) = &run_vectors<T, Truths<BitOr>>;
  at(table, Operation::negate) = &run_vectors<T, Negate>;
  at(table, Operation::absolute) = &run_vectors<T, Absolute>;
  at(table, Operation::select) = &run_vectors<T, Select>;
  return table;
}

template <class T>
constexpr Primitives integer_primitives() {
  Primitives table = common_primitives<T>();
  at(table, Operation::divide) = &run_numbers<T, Quotient>;
  at(table, Operation::remainder) = &run_numbers<T, Remainder>;
  at(table, Operation::bit_and) = &run_vectors<T, Binary<BitAnd>>;
  at(table, Operation::bit_or) = &run_vectors<T, Binary<BitOr>>;
  at(table, Operation::bit_xor) = &run_vectors<T, Binary<BitXor>>;
  at(table, Operation::shift_left) = &run_vectors<T, LeftShift>;
  at(table, Operation::shift_right) = &run_vectors<T, RightShift>;
  return table;
}

template <class T>
constexpr Primitives float_primitives() {
  Primitives table = common_primitives<T>();
  at(table, Operation::divide) = &run_vectors<T, Division>;
  at(table, Operation::square_root) = &run_vectors<T, SquareRoot>;
  return table;
}

// The primitives stand in the order of Lanes.
constexpr Primitives all_primitives[] = {integer_primitives<std::int32_t>(),
                                         integer_primitives<std::int64_t>(),
                                         float_primitives<float>(), float_primitives<double>()};

const Primitives& find_primitives(Lanes lanes) {
  return all_primitives[static_cast<std::size_t>(lanes)];
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::reduce {

HWY_EXPORT(find_primitives);

const Primitives& primitives(Lanes lanes) {
  return HWY_DYNAMIC_DISPATCH(find_primitives)(lanes);
}

}  // namespace tributary::reduce
#endif
