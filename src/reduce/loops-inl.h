// SPDX-License-Identifier: BSD-3-Clause
// Compiled once per SIMD target; the guard is Highway's toggle.
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

// How elements of type T are held in registers. Widening formats (16-bit floats) have their own.
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

// Runs `step(i)` over whole vectors, four at a time: enough independent work to hide latencies.
// Returns the first element that is left over, of fewer than `lanes`: the caller's.
template <class Step>
HWY_INLINE std::size_t for_vectors(std::size_t lanes, std::size_t n, Step step) {
  std::size_t i = 0;
  if (n >= 4 * lanes) {
    for (; i <= n - 4 * lanes; i += 4 * lanes) {
      step(i);
      step(i + lanes);
      step(i + 2 * lanes);
      step(i + 3 * lanes);
    }
  }
  for (; i + lanes <= n; i += lanes) {
    step(i);
  }
  return i;
}

template <class Format, class Op>
void accumulate(void* accumulator, const void* elements, std::size_t n) {
  using Lane = typename Format::Lane;
  using Element = typename Format::Element;
  const hn::ScalableTag<Lane> d;
  const std::size_t lanes = hn::Lanes(d);
  auto* HWY_RESTRICT to = static_cast<Lane*>(accumulator);
  const auto* HWY_RESTRICT from = static_cast<const Element*>(elements);
  const auto step = [=](std::size_t at) HWY_ATTR {
    hn::StoreU(Op::apply(d, hn::LoadU(d, to + at), Format::widen(d, from + at)), d, to + at);
  };
  const std::size_t i = for_vectors(lanes, n, step);
  if (i < n) {
    Lane a[hn::MaxLanes(d)] = {};
    Element b[hn::MaxLanes(d)] = {};
    std::memcpy(a, to + i, (n - i) * sizeof(Lane));
    std::memcpy(b, from + i, (n - i) * sizeof(Element));
    hn::StoreU(Op::apply(d, hn::LoadU(d, a), Format::widen(d, b)), d, a);
    std::memcpy(to + i, a, (n - i) * sizeof(Lane));
  }
}

template <class Format>
void load(void* accumulator, const void* elements, std::size_t n) {
  using Lane = typename Format::Lane;
  using Element = typename Format::Element;
  if constexpr (Format::in_place) {
    std::memmove(accumulator, elements, n * sizeof(Element));
  } else {
    const hn::ScalableTag<Lane> d;
    const std::size_t lanes = hn::Lanes(d);
    auto* HWY_RESTRICT to = static_cast<Lane*>(accumulator);
    const auto* HWY_RESTRICT from = static_cast<const Element*>(elements);
    const auto step = [=](std::size_t at)
                          HWY_ATTR { hn::StoreU(Format::widen(d, from + at), d, to + at); };
    const std::size_t i = for_vectors(lanes, n, step);
    if (i < n) {
      Lane a[hn::MaxLanes(d)] = {};
      Element b[hn::MaxLanes(d)] = {};
      std::memcpy(b, from + i, (n - i) * sizeof(Element));
      hn::StoreU(Format::widen(d, b), d, a);
      std::memcpy(to + i, a, (n - i) * sizeof(Lane));
    }
  }
}

template <class Format>
void store(void* elements, const void* accumulator, std::size_t n) {
  using Lane = typename Format::Lane;
  using Element = typename Format::Element;
  if constexpr (Format::in_place) {
    std::memmove(elements, accumulator, n * sizeof(Element));
  } else {
    const hn::ScalableTag<Lane> d;
    const std::size_t lanes = hn::Lanes(d);
    auto* HWY_RESTRICT to = static_cast<Element*>(elements);
    const auto* HWY_RESTRICT from = static_cast<const Lane*>(accumulator);
    const auto step = [=](std::size_t at)
                          HWY_ATTR { Format::narrow(d, hn::LoadU(d, from + at), to + at); };
    const std::size_t i = for_vectors(lanes, n, step);
    if (i < n) {
      Lane a[hn::MaxLanes(d)] = {};
      Element b[hn::MaxLanes(d)] = {};
      std::memcpy(a, from + i, (n - i) * sizeof(Lane));
      Format::narrow(d, hn::LoadU(d, a), b);
      std::memcpy(to + i, b, (n - i) * sizeof(Element));
    }
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
