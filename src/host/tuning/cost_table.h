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

// The means by which an allreduce can be carried out where there are switches: their protocol,
// recursive doubling of the hosts, or the ring of the hosts.
enum class Means : std::uint8_t { carrier, doubling, ring };
inline constexpr std::size_t means_count = 3;

// Tells how long an allreduce takes by each means and size, as far as it was measured. Times in
// between are interpolated, so that every two sizes beside each other have a latency and a
// bandwidth of their own.
class CostTable {
 public:
  struct Measured {
    std::size_t bytes = 0;
    Duration time{};
  };

  // Precondition: the sizes of each means come from small to large.
  void add(Means means, std::size_t bytes, Duration time);
  // Returns the time of the first size for smaller ones, and a time on the line through the last
  // two for larger ones; nothing where too little was measured for that.
  std::optional<Duration> time(Means means, std::size_t bytes) const;
  // Returns the largest size that was measured; 0: none was.
  std::size_t largest(Means means) const;
  const std::vector<Measured>& measured(Means means) const {
    return measured_[static_cast<std::size_t>(means)];
  }

 private:
  std::array<std::vector<Measured>, means_count> measured_;
};

}  // namespace tributary::host::tuning
