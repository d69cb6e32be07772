// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "host/job.h"
#include "host/machine.h"
#include "support/three_levels.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// A ScaledEngine is how a protocol adds up what one rank on each host of a fat tree of three levels
// sends: one job, whose tree has the last core as its root.
struct ScaledEngine {
  std::string_view name;
  std::uint16_t udp_port = 0;
  std::size_t ranks_max = 0;
  // Adds the job to the switches.
  void (*set_up)(FabricSpec& spec, const ThreeLevels& shape) = nullptr;
  std::unique_ptr<host::Machine> (*make)(const host::Job& job) = nullptr;
  // Returns the packets that were sent because others were lost, by one rank.
  std::uint64_t (*repeats)(const host::Machine& machine) = nullptr;
  // The figures that together say how many packets a switch has held at a time.
  std::array<std::string_view, 2> packets_held{};
};

inline constexpr std::uint32_t scaled_job_id = 1;
inline constexpr std::uint32_t scaled_window = 64;
// NetReduce's packets have so many bytes with all that is not elements.
inline constexpr std::uint32_t scaled_payload_bytes = 256;

extern const ScaledEngine scaled_canary;
extern const ScaledEngine scaled_panama;
extern const ScaledEngine scaled_netreduce;
extern const ScaledEngine scaled_flare;

}  // namespace tributary::test
