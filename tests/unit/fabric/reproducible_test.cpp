// SPDX-License-Identifier: BSD-3-Clause
// Tests reproducible sums over whole fabrics in virtual time: by every engine, from hosts in
// several places, through switches of one and more cores, over cables that lose, repeat and reorder
// packets.
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/canary/host/collectives.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/host/collectives.h"
#include "protocols/panama/wire.h"
#include "support/aggregation_tree.h"
#include "support/fat_tree.h"
#include "support/reduction_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/ring_ranks.h"
#include "unit/fabric/step_workers.h"
#include "unit/host/exact/numbers.h"
#include "unit/host/exact/worlds.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using host::test::Elements;

constexpr std::uint32_t world = 5;
constexpr std::size_t count = 300;
constexpr std::uint32_t job_id = 1;

// The hosts of the ranks, and the root of engines with a tree. Switches 0 and 1 are leaves with
// four hosts each, 2 and 3 spines.
struct Placement {
  std::vector<std::size_t> hosts;  // by rank
  std::size_t root = 0;
};
const std::array<Placement, 3> placements = {
    Placement{{0, 1, 2, 3, 4}, 2}, Placement{{7, 2, 5, 0, 3}, 1}, Placement{{4, 0, 6, 1, 5}, 3}};

// An engine in the switches, and the machine of a rank.
struct Contestant {
  const char* name;
  FatTree shape;
  std::uint16_t udp_port;
  void (*set_up)(FabricSpec& spec, const Placement& placement);
  std::unique_ptr<host::Machine> (*make)(const host::Job& job);
};
std::ostream& operator<<(std::ostream& out, const Contestant& contestant) {
  return out << contestant.name;
}

void set_up_nothing(FabricSpec& /*spec*/, const Placement& /*placement*/) {}

std::unique_ptr<host::Machine> make_canary(const host::Job& job) {
  return std::make_unique<host::CanaryCollectives>(job);
}

wire::Ipv4Address panama_group(std::uint16_t tree) {
  return wire::Ipv4Address(0xefc00100u + tree);
}

void set_up_panama(FabricSpec& spec, const Placement& placement) {
  constexpr std::uint32_t packet_memory = 512;
  for (auto& section : spec.switches) {
    section.config.protocols.emplace(panama::PanamaConfig{packet_memory, {}});
  }
  for (const std::uint16_t number : {std::uint16_t{0}, std::uint16_t{1}}) {
    AggregationTree tree;
    tree.job = job_id;
    tree.tree = number;
    tree.group = panama_group(number);
    tree.hosts = placement.hosts;
    tree.root = number == 0 ? placement.root : std::size_t{0};
    set_up(spec, tree);
  }
}

std::unique_ptr<host::Machine> make_panama(const host::Job& job) {
  host::PanamaPlan plan;
  plan.trees = {panama_group(0), panama_group(1)};
  return std::make_unique<host::PanamaCollectives>(job, plan);
}

constexpr std::uint32_t flare_window = 16;
const wire::Ipv4Address flare_group(0xefd00001u);

// This is not one of Flare's reproducible trees.
void set_up_flare(FabricSpec& spec, const Placement& placement) {
  for (auto& section : spec.switches) {
    section.config.protocols.emplace<flare::FlareConfig>();
  }
  ReductionTree tree;
  tree.job = job_id;
  tree.group = flare_group;
  tree.hosts = placement.hosts;
  tree.root = placement.root;
  tree.window = flare_window;
  set_up(spec, tree);
}

std::unique_ptr<host::Machine> make_flare(const host::Job& job) {
  return std::make_unique<host::FlareCollectives>(job, host::FlarePlan{flare_group, flare_window});
}

host::NetReducePlan ring_plan() {
  host::NetReducePlan plan;
  plan.ring = job_id;
  plan.message_packets = 4;
  plan.mtu = 256;
  return plan;
}

// The ring is on one switch, and the ranks have their places among its ports.
void set_up_netreduce(FabricSpec& spec, const Placement& placement) {
  auto ring = ring_of(ring_plan());
  for (const auto host : placement.hosts) {
    ring.members.push_back(spec.hosts[host].address);
  }
  add_ring(spec.switches[0], std::move(ring));
}

std::unique_ptr<host::Machine> make_netreduce(const host::Job& job) {
  return make_ring_rank(job, ring_plan());
}

// The cables lose, repeat and reorder packets.
FatTree shape_of(unsigned leaves, unsigned hosts_per_leaf, unsigned spines) {
  FatTree shape;
  shape.leaves = leaves;
  shape.hosts_per_leaf = hosts_per_leaf;
  shape.spines = spines;
  shape.canary.descriptors = 64;
  shape.impair.loss = 0.01;
  shape.impair.duplicate = 0.01;
  shape.impair.jitter = 200us;
  return shape;
}

Contestant over_canary() {
  return {"canary", shape_of(2, 4, 2), 17000, set_up_nothing, make_canary};
}

// Numbers whose sum in floats depends on the order.
std::vector<Elements> contributions() {
  std::mt19937_64 random(1);
  std::vector<Elements> in;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    in.push_back(host::exact::test::elements_of(host::exact::test::drawn<float>(count, random)));
  }
  return in;
}

host::Call float_sum() {
  return host::exact::test::call_of(count, wire::ElementType::f32);
}

struct Run {
  const Placement& placement;
  unsigned cores = 1;
  std::uint64_t seed = 1;
  bool in_steps = true;
};

// The results of all ranks.
std::vector<Elements> results_of(const Contestant& contestant, const Run& run) {
  static HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
  auto spec = make_fat_tree(contestant.shape);
  contestant.set_up(spec, run.placement);
  spec.cores = run.cores;
  spec.seed = run.seed;
  VirtualFabric fabric(std::move(spec), &pool);
  host::Job job;
  job.id = job_id;
  job.key = {static_cast<std::uint8_t>(run.seed), 7, 9};
  job.payload_bytes = 256;
  job.window = 8;
  StepWorkers workers(fabric, run.placement.hosts, contestant.udp_port, job, contestant.make);
  std::mt19937_64 random(run.seed);
  workers.begin(float_sum(), contributions(), run.in_steps, random);
  fabric.run_while([&workers] { return !workers.all_over(); }, 200s);
  EXPECT_TRUE(workers.all_over() && workers.none_failed());
  std::vector<Elements> results;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    results.push_back(workers.result(rank));
  }
  return results;
}

class Reproducible : public testing::TestWithParam<Contestant> {};
INSTANTIATE_TEST_SUITE_P(
    Engines, Reproducible,
    testing::Values(
        over_canary(),
        Contestant{"panama", shape_of(2, 4, 2), wire::panama_udp_port, set_up_panama, make_panama},
        Contestant{"flare", shape_of(2, 4, 2), wire::flare_udp_port, set_up_flare, make_flare},
        Contestant{"netreduce", shape_of(1, 8, 0), wire::roce_udp_port, set_up_netreduce,
                   make_netreduce}),
    [](const auto& instance) { return std::string(instance.param.name); });

// Compares 252 runs of each engine, 1008 in all, with the result of the steps without a fabric.
TEST_P(Reproducible, SumsHaveOneDigest) {
  constexpr std::uint64_t seeds = 28;
  const auto expected = host::exact::test::reduced(float_sum(), contributions());
  std::size_t others = 0;
  for (const auto& placement : placements) {
    for (const unsigned cores : {1u, 2u, 4u}) {
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        for (const auto& result : results_of(GetParam(), {placement, cores, seed})) {
          others += result == expected ? 0 : 1;
        }
      }
    }
  }
  EXPECT_EQ(others, 0u) << "results of ranks that have other bits";
}

TEST(OrdinarySums, OfCanaryDependOnTheOrder) {
  const auto first = results_of(over_canary(), {placements[0], 1, 1, false});
  std::size_t others = 0;
  for (std::uint64_t seed = 2; seed <= 6; ++seed) {
    others += results_of(over_canary(), {placements[0], 1, seed, false})[0] == first[0] ? 0 : 1;
  }
  EXPECT_GT(others, 0u) << "or the test before this one shows nothing";
}

}  // namespace
}  // namespace tributary::test
