// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "host/clock.h"

namespace tributary::host::tuning {

// By what an allreduce can be carried out where there are switches: by their protocol, by recursive
// doubling of the hosts, or round the ring of the hosts.
enum class Means : std::uint8_t { carrier, doubling, ring };
inline constexpr std::size_t means_count = 3;

// How long an allreduce takes by each means and size, as far as it was measured. In between it is
// interpolated, so that every two sizes beside each other have a latency and a bandwidth of their
// own.
class CostTable {
 public:
  struct Measured {
    std::size_t bytes = 0;
    Duration time{};
  };

  // Precondition: of each means, from small to large.
  void add(Means means, std::size_t bytes, Duration time);
  // Of sizes below the first one that of the first, beyond the last one on the line through the
  // last two. Nothing where that takes more than was measured.
  std::optional<Duration> time(Means means, std::size_t bytes) const;
  // 0: nothing was.
  std::size_t largest(Means means) const;
  const std::vector<Measured>& measured(Means means) const {
    return measured_[static_cast<std::size_t>(means)];
  }

 private:
  std::array<std::vector<Measured>, means_count> measured_;
};

}  // namespace tributary::host::tuning
