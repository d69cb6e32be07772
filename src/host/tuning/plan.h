// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

#include "host/ring/sizes.h"
#include "host/tuning/cost_table.h"

namespace tributary::host::tuning {

// Tells which means carries allreduces of which size. It is the same on all ranks, as it follows
// from numbers that all have. Sizes are in classes that end at a power of two.
class Plan {
 public:
  // Nothing was measured, so everything goes by the carrier.
  Plan() { by_class_.fill(Means::carrier); }
  // Hosts carry what they carry clearly faster; beyond what was measured only if they did so at the
  // largest size of it, too. They double up to `doubling_most` bytes, and up to doubling_bytes_max
  // or eight times the largest size that was measured, however fast that is.
  explicit Plan(const CostTable& costs,
                std::size_t doubling_most = std::numeric_limits<std::size_t>::max());

  Means at(std::size_t bytes) const { return by_class_[class_of(bytes)]; }
  bool by_hosts(std::size_t bytes) const { return at(bytes) != Means::carrier; }
  // Up to so many bytes hosts double, where they carry something.
  std::size_t doubling_up_to() const { return doubling_up_to_; }
  // "doubling up to 4 KiB, canary up to 1 MiB, ring beyond"
  std::string text(std::string_view carrier) const;

 private:
  static constexpr std::size_t classes = 49;  // the last one has no end
  static std::size_t class_of(std::size_t bytes);

  std::array<Means, classes> by_class_;
  std::size_t doubling_up_to_ = doubling_bytes_max;
};

// Returns what people call it; the carrier has the name of its protocol.
std::string_view name(Means means, std::string_view carrier);

}  // namespace tributary::host::tuning
