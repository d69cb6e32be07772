// SPDX-License-Identifier: BSD-3-Clause
// This is compiled once per SIMD target; the guard is Highway's toggle.
#if defined(TRIBUTARY_REDUCE_LOOPS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TRIBUTARY_REDUCE_LOOPS_INL_H
#undef TRIBUTARY_REDUCE_LOOPS_INL_H
#else
#define TRIBUTARY_REDUCE_LOOPS_INL_H
#endif

#include <cstddef>
#include <cstring>

#include <hwy/highway.h>

#include "reduce/kernel.h"
#include "reduce/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::reduce::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Elements of type T are held like this in registers. Widening formats (floats of 16 and 8 bits)
// have classes of their own.
template <class T>
struct Plain {
  using Element = T;
  using Lane = T;
  static constexpr bool in_place = true;

  template <class D>
  static HWY_INLINE hn::Vec<D> widen(D d, const Element* from) {
    return hn::LoadU(d, from);
  }
  template <class D>
  static HWY_INLINE void narrow(D d, hn::Vec<D> value, Element* to) {
    hn::StoreU(value, d, to);
  }
};

// Calls `put(i, compute(i))` for each of n / lanes vectors, four at a time, all read before the
// first is written: enough independent work to hide latencies.
template <class Compute, class Put>
HWY_INLINE void for_vectors(std::size_t lanes, std::size_t n, Compute compute, Put put) {
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto v0 = compute(i);
    const auto v1 = compute(i + lanes);
    const auto v2 = compute(i + 2 * lanes);
    const auto v3 = compute(i + 3 * lanes);
    put(i, v0);
    put(i + lanes, v1);
    put(i + 2 * lanes, v2);
    put(i + 3 * lanes, v3);
  }
  for (; i + lanes <= n; i += lanes) {
    put(i, compute(i));
  }
}

// Handles n >= Lanes(d) elements as `Step` does: To, From, Lane, compute() and put(). What is left
// over by whole vectors is covered by one more, which ends with the last element and overlaps the
// one before; it is computed while its elements are still as they came.
template <class Step>
HWY_INLINE void for_elements(typename Step::To* HWY_RESTRICT to,
                             const typename Step::From* HWY_RESTRICT from, std::size_t n) {
  const hn::ScalableTag<typename Step::Lane> d;
  const auto compute = [=](std::size_t at)
                           HWY_ATTR { return Step::compute(d, to + at, from + at); };
  const auto put = [=](std::size_t at, auto value) HWY_ATTR { Step::put(d, value, to + at); };
  const std::size_t lanes = hn::Lanes(d);
  if (n % lanes == 0) {
    for_vectors(lanes, n, compute, put);
  } else {
    const auto last = compute(n - lanes);
    for_vectors(lanes, n, compute, put);
    put(n - lanes, last);
  }
}

// Handles fewer elements than that, as a whole vector of copies.
template <class Step>
HWY_NOINLINE void for_few_elements(typename Step::To* to, const typename Step::From* from,
                                   std::size_t n) {
  const hn::ScalableTag<typename Step::Lane> d;
  typename Step::To a[hn::MaxLanes(d)] = {};
  typename Step::From b[hn::MaxLanes(d)] = {};
  std::memcpy(a, to, n * sizeof *to);
  std::memcpy(b, from, n * sizeof *from);
  Step::put(d, Step::compute(d, a, b), a);
  std::memcpy(to, a, n * sizeof *to);
}

template <class Step>
HWY_INLINE void run(void* destination, const void* source, std::size_t n) {
  const hn::ScalableTag<typename Step::Lane> d;
  auto* to = static_cast<typename Step::To*>(destination);
  const auto* from = static_cast<const typename Step::From*>(source);
  if (n >= hn::Lanes(d)) {
    for_elements<Step>(to, from, n);
  } else if (n > 0) {
    for_few_elements<Step>(to, from, n);
  }
}

template <class Format, class Op>
struct Accumulate {
  using Lane = typename Format::Lane;
  using To = Lane;
  using From = typename Format::Element;

  template <class D>
  static HWY_INLINE hn::Vec<D> compute(D d, const To* to, const From* from) {
    return Op::apply(d, hn::LoadU(d, to), Format::widen(d, from));
  }
  template <class D>
  static HWY_INLINE void put(D d, hn::Vec<D> value, To* to) {
    hn::StoreU(value, d, to);
  }
};

template <class Format>
struct Load {
  using Lane = typename Format::Lane;
  using To = Lane;
  using From = typename Format::Element;

  template <class D>
  static HWY_INLINE hn::Vec<D> compute(D d, const To*, const From* from) {
    return Format::widen(d, from);
  }
  template <class D>
  static HWY_INLINE void put(D d, hn::Vec<D> value, To* to) {
    hn::StoreU(value, d, to);
  }
};

template <class Format>
struct Store {
  using Lane = typename Format::Lane;
  using To = typename Format::Element;
  using From = Lane;

  template <class D>
  static HWY_INLINE hn::Vec<D> compute(D d, const To*, const From* from) {
    return hn::LoadU(d, from);
  }
  template <class D>
  static HWY_INLINE void put(D d, hn::Vec<D> value, To* to) {
    Format::narrow(d, value, to);
  }
};

// The function begins a cache line: a block of 256 elements is so short that it counts how many
// lines of code the loop lies in, and else the linker would decide that.
template <class Format, class Op>
[[gnu::aligned(64)]] void accumulate(void* accumulator, const void* elements, std::size_t n) {
  run<Accumulate<Format, Op>>(accumulator, elements, n);
}

template <class Format>
void load(void* accumulator, const void* elements, std::size_t n) {
  if constexpr (Format::in_place) {
    std::memmove(accumulator, elements, n * sizeof(typename Format::Element));
  } else {
    run<Load<Format>>(accumulator, elements, n);
  }
}

template <class Format>
void store(void* elements, const void* accumulator, std::size_t n) {
  if constexpr (Format::in_place) {
    std::memmove(elements, accumulator, n * sizeof(typename Format::Element));
  } else {
    run<Store<Format>>(elements, accumulator, n);
  }
}

template <class Format, class Op>
constexpr Kernel make_kernel() {
  return {&load<Format>, &accumulate<Format, Op>, &store<Format>, sizeof(typename Format::Lane),
          Format::in_place};
}

}  // namespace tributary::reduce::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
