// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/occupancy.h"

#include <algorithm>

#include "protocols/canary/engine/config.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/accounts.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t payload_bytes = 1408;
// Ethernet, IPv4 and UDP, Canary header, elements.
constexpr std::uint64_t frame_bytes = 14 + 28 + 64 + payload_bytes;
constexpr std::uint64_t line_bytes = frame_bytes + 24;
constexpr std::uint32_t window = 2048;
constexpr std::size_t blocks = 3000;
constexpr std::size_t late_leaf = 2;
constexpr Duration cable_delay = 5us;

}  // namespace

std::vector<OccupancyCase> occupancy_cases() {
  std::vector<OccupancyCase> cases;
  for (const unsigned levels : {1u, 2u}) {
    for (const std::uint64_t rate_bps : {100'000'000u, 400'000'000u}) {
      for (const Duration timeout : {Duration(200us), Duration(1ms), Duration(5ms)}) {
        cases.push_back({levels, rate_bps, timeout});
      }
    }
  }
  for (const Duration timeout : {Duration(200us), Duration(1ms)}) {
    cases.push_back({2, 400'000'000, timeout, 10ms});
  }
  return cases;
}

namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double modelled(const OccupancyCase& of, Duration timeout_of_the_root) {
  const double bytes_per_second = static_cast<double>(of.rate_bps) / 8;
  const double diameter = of.levels == 1 ? 1 : 3;  // switches on the longest path
  // A hop is a cable and a store-and-forward; the leader takes no virtual time, but two hops.
  const double hop = seconds(cable_delay) + static_cast<double>(line_bytes) / bytes_per_second;
  const double timeouts = (diameter - 1) * seconds(of.timeout) + seconds(timeout_of_the_root);
  return bytes_per_second * (2 * (diameter * hop + timeouts) + 2 * hop);
}

}  // namespace

double modelled_bytes(const OccupancyCase& of) {
  return modelled(of, of.timeout);
}

double modelled_bytes_with_a_patient_root(const OccupancyCase& of) {
  return modelled(of, canary::CanaryConfig{}.root_timeout);
}

Occupied occupy(const OccupancyCase& with) {
  FatTree shape;
  if (with.levels == 1) {
    shape.leaves = 1;
    shape.hosts_per_leaf = 8;
    shape.spines = 0;
  }
  shape.rate_bps = with.rate_bps;
  shape.canary.timeout = with.timeout;
  shape.canary.learn_contributions = false;
  shape.canary.descriptors = 1 << 14;
  shape.canary.job_quota = shape.canary.port_quota = 1 << 14;
  shape.canary.hash_seed = 42;
  auto spec = make_fat_tree(shape);
  spec.cable_delay = cable_delay;
  for (auto& host : spec.hosts) {
    host.rate_bps = with.rate_bps;
  }
  if (with.late > Duration{}) {
    spec.switches[late_leaf].config.ports.front().impair_in.delay = with.late;
  }
  VirtualFabric fabric(std::move(spec));
  Workers workers(fabric,
                  {.payload_bytes = payload_bytes, .window = window, .congestion_control = false});
  workers.begin(blocks * payload_bytes / sizeof(std::int32_t), 60s);
  fabric.run(60s);
  Occupied occupied;
  occupied.exact = workers.all_done() && workers.never_wrong();
  for (std::size_t leaf = 0; leaf < shape.leaves; ++leaf) {
    const auto figures = figures_of(fabric, leaf);
    occupied.accumulator_bytes =
        std::max(occupied.accumulator_bytes, figures.at("accumulator_bytes_high_water"));
    occupied.descriptor_bytes =
        std::max(occupied.descriptor_bytes, figures.at("descriptors_high_water") * frame_bytes);
  }
  return occupied;
}

}  // namespace tributary::test
