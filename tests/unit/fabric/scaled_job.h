// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "packet/clock.h"
#include "unit/fabric/scaled_engines.h"

namespace tributary::test {

// A ScaledJob has one rank on each host of a fat tree of three levels, over links of 100 Gbit/s.
struct ScaledJob {
  unsigned pods = 2;
  unsigned leaves_per_pod = 2;
  unsigned hosts_per_leaf = 4;
  std::size_t elements = 16384;  // i32, of each rank
  double loss = 0.001;           // on each link, in either direction
  std::uint64_t seed = 1;

  constexpr std::uint32_t world() const { return pods * leaves_per_pod * hosts_per_leaf; }
};

// A ScaledCost is what an allreduce took, after others in which the switches learnt addresses.
struct ScaledCost {
  std::string failure;  // empty: every element of every rank's result is right
  Duration time{};      // virtual
  std::uint64_t packets_of_hosts = 0;
  std::uint64_t packets_of_switches = 0;
  std::uint64_t repeats = 0;    // packets that are there because others were lost
  double seconds_of_hosts = 0;  // of CPU, in the machines of all ranks
  double seconds_of_switches = 0;
  std::size_t bytes_of_hosts = 0;  // that these machines have allocated
  // The fullest switch has had so many at a time.
  std::uint64_t blocks = 0;
  std::uint64_t packets_held = 0;
};

ScaledCost cost_of(const ScaledEngine& engine, const ScaledJob& job);

}  // namespace tributary::test
