// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/grid.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/sketch/grid.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes before what is compiled per target.
#include <hwy/highway.h>

#include "host/sketch/chance-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {

// All of these go through a whole chunk.

// Returns the bits of a float without its sign: greater ones are greater numbers, NaNs the
// greatest.
std::uint32_t greatest_magnitude(const float* elements) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  auto greatest = hn::Zero(integers);
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto magnitude = hn::Abs(hn::LoadU(d, elements + i));
    greatest = hn::Max(greatest, hn::BitCast(integers, magnitude));
  }
  return static_cast<std::uint32_t>(hn::GetLane(hn::MaxOfLanes(integers, greatest)));
}

struct Nearest {
  template <class D, class V>
  HWY_INLINE auto operator()(D, V units, std::size_t) const {
    return hn::NearestInt(units);
  }
};

// Rounds up with a probability that is the fraction above the integer below.
struct ByChance {
  Chance chance;

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V units, std::size_t index) const {
    const auto below = hn::Floor(units);
    const auto up = hn::Lt(drawn(d, chance, index), hn::Sub(units, below));
    const auto rounded = hn::Add(below, hn::IfThenElseZero(up, hn::Set(d, 1.0f)));
    return hn::ConvertTo(hn::RebindToSigned<D>(), rounded);
  }
};

template <typename Integer, class Round>
HWY_INLINE void quantise_by(Integer* integers, const float* elements, float unit, float levels,
                            std::size_t first, Round round) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<Integer, decltype(d)> narrow;
  const auto units = hn::Set(d, unit);
  const auto most = hn::Set(d, levels);
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto exact = hn::Div(hn::LoadU(d, elements + i), units);
    const auto rounded = round(d, hn::Clamp(exact, hn::Neg(most), most), first + i);
    hn::StoreU(hn::DemoteTo(narrow, rounded), narrow, integers + i);
  }
}

template <typename Integer>
HWY_INLINE void quantise_chunk(Integer* integers, const float* elements, float unit, float levels,
                               std::size_t first, const Chance* chance) {
  if (chance == nullptr) {
    quantise_by(integers, elements, unit, levels, first, Nearest{});
  } else {
    quantise_by(integers, elements, unit, levels, first, ByChance{*chance});
  }
}

template <typename Integer>
HWY_INLINE void restore_chunk(float* elements, const Integer* integers, float unit) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> wide;
  const hn::Rebind<Integer, decltype(d)> narrow;
  const auto units = hn::Set(d, unit);
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto integer = hn::PromoteTo(wide, hn::LoadU(narrow, integers + i));
    hn::StoreU(hn::Mul(hn::ConvertTo(d, integer), units), d, elements + i);
  }
}

void quantise_8(std::int8_t* integers, const float* elements, float unit, float levels,
                std::size_t first, const Chance* chance) {
  quantise_chunk(integers, elements, unit, levels, first, chance);
}
void quantise_16(std::int16_t* integers, const float* elements, float unit, float levels,
                 std::size_t first, const Chance* chance) {
  quantise_chunk(integers, elements, unit, levels, first, chance);
}
void restore_8(float* elements, const std::int8_t* integers, float unit) {
  restore_chunk(elements, integers, unit);
}
void restore_16(float* elements, const std::int16_t* integers, float unit) {
  restore_chunk(elements, integers, unit);
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(greatest_magnitude);
HWY_EXPORT(quantise_8);
HWY_EXPORT(quantise_16);
HWY_EXPORT(restore_8);
HWY_EXPORT(restore_16);

namespace {

constexpr std::uint32_t infinity_bits = 0x7f800000;
constexpr std::int16_t bound_not_finite = 0x7f80;
constexpr std::int16_t bound_greatest = 0x7f7f;
// A smaller bound counts as this one, so that a unit is a normal number.
constexpr float bound_least = 0x1p-100f;

std::int16_t bound_of(std::uint32_t magnitude) {
  if (magnitude >= infinity_bits) {
    return bound_not_finite;
  }
  const auto rounded_up = static_cast<std::int16_t>((magnitude + 0xffff) >> 16);
  return std::min(rounded_up, bound_greatest);
}

// The integers of a chunk, one a word, as kernels have them; in vectors they lie packed.
class Integers {
 public:
  explicit Integers(unsigned bits) : bits_(bits) {}

  void quantise(const float* elements, float unit, float levels, std::size_t first,
                const Chance* chance) {
    if (bits_ == 16) {
      HWY_DYNAMIC_DISPATCH(quantise_16)(of_16_, elements, unit, levels, first, chance);
    } else {
      HWY_DYNAMIC_DISPATCH(quantise_8)(of_8_, elements, unit, levels, first, chance);
    }
  }
  void restore(float* elements, float unit) const {
    if (bits_ == 16) {
      HWY_DYNAMIC_DISPATCH(restore_16)(elements, of_16_, unit);
    } else {
      HWY_DYNAMIC_DISPATCH(restore_8)(elements, of_8_, unit);
    }
  }

  void pack_into(std::byte* packed, std::size_t n) const {
    if (bits_ == 16) {
      std::memcpy(packed, of_16_, n * sizeof *of_16_);
    } else {
      pack(reinterpret_cast<std::uint8_t*>(packed), reinterpret_cast<const std::uint8_t*>(of_8_), n,
           bits_);
    }
  }
  void unpack_from(const std::byte* packed, std::size_t n) {
    if (bits_ == 16) {
      std::memcpy(of_16_, packed, n * sizeof *of_16_);
      return;
    }
    unpack(reinterpret_cast<std::uint8_t*>(of_8_), reinterpret_cast<const std::uint8_t*>(packed), n,
           bits_);
    for (std::size_t i = 0; bits_ == 4 && i < n; ++i) {
      of_8_[i] = static_cast<std::int8_t>((of_8_[i] ^ 8) - 8);  // extends the sign
    }
  }

 private:
  unsigned bits_;
  std::int8_t of_8_[chunk_elements] = {};
  std::int16_t of_16_[chunk_elements] = {};
};

}  // namespace

Grid::Grid(unsigned bits, std::uint32_t world_size)
    : bits_(bits), levels_(levels_of(bits, world_size)) {}

wire::ElementType Grid::type() const {
  return bits_ == 16  ? wire::ElementType::i16
         : bits_ == 4 ? wire::ElementType::i4
                      : wire::ElementType::i8;
}

float Grid::unit_of(std::int16_t bound) const {
  if (bound < 0 || bound >= bound_not_finite) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  if (bound == 0) {
    return 0;
  }
  const auto greatest = std::bit_cast<float>(static_cast<std::uint32_t>(bound) << 16);
  return std::max(greatest, bound_least) / static_cast<float>(levels_);
}

void Grid::find_bounds(std::span<std::int16_t> bounds, std::span<const float> elements) const {
  for_chunks(elements.size(), [&](std::size_t chunk, std::size_t first, std::size_t n) {
    const WholeChunk whole(elements.data() + first, n);
    bounds[chunk] = bound_of(HWY_DYNAMIC_DISPATCH(greatest_magnitude)(whole.data()));
  });
}

void Grid::quantise(std::byte* integers, std::span<const float> elements,
                    std::span<const std::int16_t> bounds, const Chance* chance) const {
  const auto levels = static_cast<float>(levels_);
  Integers made(bits_);
  for_chunks(elements.size(), [&](std::size_t chunk, std::size_t first, std::size_t n) {
    const float unit = unit_of(bounds[chunk]);
    auto* const to = integers + bytes_of(first);
    if (!(unit > 0)) {
      std::memset(to, 0, bytes_of(n));
      return;
    }
    const WholeChunk whole(elements.data() + first, n);
    made.quantise(whole.data(), unit, levels, first, chance);
    made.pack_into(to, n);
  });
}

// Calls f(a chunk's first element, how many, what each stands for, the unit).
template <typename F>
void Grid::for_restored(std::size_t count, const std::byte* integers,
                        std::span<const std::int16_t> bounds, F f) const {
  Integers found(bits_);
  float restored[chunk_elements];
  for_chunks(count, [&](std::size_t chunk, std::size_t first, std::size_t n) {
    const float unit = unit_of(bounds[chunk]);
    found.unpack_from(integers + bytes_of(first), n);
    found.restore(restored, unit);
    f(first, n, restored, unit);
  });
}

void Grid::restore(std::span<float> elements, const std::byte* integers,
                   std::span<const std::int16_t> bounds) const {
  for_restored(elements.size(), integers, bounds,
               [&](std::size_t first, std::size_t n, const float* restored, float) {
                 std::copy_n(restored, n, elements.data() + first);
               });
}

void Grid::subtract(std::span<float> elements, const std::byte* integers,
                    std::span<const std::int16_t> bounds) const {
  for_restored(elements.size(), integers, bounds,
               [&](std::size_t first, std::size_t n, const float* restored, float unit) {
                 auto* const from = elements.data() + first;
                 const bool finite = unit >= 0;
                 for (std::size_t i = 0; i < n; ++i) {
                   from[i] = finite ? from[i] - restored[i] : 0.0f;
                 }
               });
}

}  // namespace tributary::host::sketch
#endif
