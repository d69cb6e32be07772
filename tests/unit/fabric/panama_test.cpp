// SPDX-License-Identifier: BSD-3-Clause
// Tests PANAMA over whole fabrics in virtual time, with its engine in every switch and its machine
// on every host.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/panama/engine/config.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/panama_workers.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

// Leaves 0 to 3, spines 4 to 7; four hosts behind each leaf.
FatTree two_levels_of_panama(std::uint32_t packet_memory = 512) {
  return {.leaves = 4,
          .hosts_per_leaf = 4,
          .spines = 4,
          .panama = panama::PanamaConfig{packet_memory, {}}};
}

const std::vector<std::size_t> spines = {4, 5, 6, 7};

std::vector<std::size_t> first(std::size_t count, const std::vector<std::size_t>& roots) {
  return {roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Expects that one allreduce by all workers, without loss, is exact.
void expect_exact(FatTree shape, const PanamaWorkers::Options& options, std::size_t count,
                  ElementType type = ElementType::i32, Operator op = Operator::sum) {
  shape.canary.descriptors = 64;  // nobody uses Canary, and a larger table takes long to make
  VirtualFabric fabric(PanamaWorkers::set_up_trees(make_fat_tree(shape), options));
  PanamaWorkers workers(fabric, options);
  workers.begin(count, type, op);
  fabric.run(20s);
  const auto what = std::to_string(options.world_size) + " ranks, " +
                    std::to_string(options.roots.size()) + " trees, " + std::to_string(count) +
                    " elements of " + std::string(name(type)) + ", " + std::string(name(op));
  ASSERT_TRUE(workers.all_done()) << what;
  EXPECT_EQ(workers.wrong(), 0u) << what;
  EXPECT_EQ(workers.sent_again(), 0u) << what;
  EXPECT_EQ(fabric.figure("over_cap_total"), 0u) << what;
  expect_balanced(fabric);
}

TEST(PanamaFabric, ExactOverOneSwitch) {
  const FatTree shape{
      .leaves = 1, .hosts_per_leaf = 16, .spines = 0, .panama = panama::PanamaConfig{512, {}}};
  for (std::uint32_t world = 2; world <= 16; ++world) {
    for (const std::size_t trees : {1u, 2u, 4u}) {
      expect_exact(shape, {.world_size = world, .roots = std::vector<std::size_t>(trees, 0)}, 3001);
    }
  }
}

TEST(PanamaFabric, ExactOverTwoLevels) {
  for (std::uint32_t world = 2; world <= 16; ++world) {
    for (const std::size_t trees : {1u, 2u, 4u}) {
      expect_exact(two_levels_of_panama(), {.world_size = world, .roots = first(trees, spines)},
                   3001);
    }
  }
}

// With a leaf at the root, a packet of another leaf passes three switches.
TEST(PanamaFabric, ExactOverThreeLevels) {
  for (std::uint32_t world = 2; world <= 16; ++world) {
    for (const std::size_t trees : {1u, 2u, 4u}) {
      expect_exact(two_levels_of_panama(),
                   {.world_size = world, .roots = first(trees, {0, 1, 2, 3})}, 3001);
    }
  }
}

TEST(PanamaFabric, ExactForEveryTypeAndOperator) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const auto type = static_cast<ElementType>(t);
      const auto op = static_cast<Operator>(o);
      if (wire::is_valid(type, op)) {
        expect_exact(two_levels_of_panama(), {.world_size = 7, .roots = first(2, spines)}, 1001,
                     type, op);
      }
    }
  }
}

TEST(PanamaFabric, ExactForEveryLength) {
  for (const std::size_t count : {1u, 63u, 64u, 65u, 128u, 129u, 4999u, 100'003u}) {
    expect_exact(two_levels_of_panama(), {.world_size = 8, .roots = first(4, spines)}, count);
  }
}

TEST(PanamaFabric, ExactWithLittleMemory) {
  for (const std::uint32_t memory : {8u, 9u, 16u}) {
    expect_exact(two_levels_of_panama(memory), {.world_size = 8, .roots = first(4, spines)}, 5000);
  }
}

// Every cable loses, duplicates, reorders and damages packets.
TEST(PanamaFabric, ExactOverBadCables) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto shape = two_levels_of_panama();
    shape.impair.loss = 0.01;
    shape.impair.duplicate = 0.01;
    shape.impair.reorder = 0.01;
    shape.impair.corrupt = 0.002;
    const PanamaWorkers::Options options{.world_size = static_cast<std::uint32_t>(2 + seed),
                                         .roots = first(std::size_t{1} << seed % 3, spines),
                                         .congestion_control = seed % 2 == 0};
    auto spec = PanamaWorkers::set_up_trees(make_fat_tree(shape), options);
    spec.seed = seed;
    VirtualFabric fabric(std::move(spec));
    PanamaWorkers workers(fabric, options);
    for (int collective = 0; collective < 3; ++collective) {
      workers.begin(20'000);
      fabric.run(20s);
      ASSERT_TRUE(workers.all_done())
          << "seed " << seed << ": " << workers.machine(0).failure().value_or(Error{}).message;
      EXPECT_EQ(workers.wrong(), 0u) << "seed " << seed;
    }
    EXPECT_GT(workers.sent_again(), 0u);
    expect_balanced(fabric);
  }
}

TEST(PanamaFabric, BesideCanary) {
  auto shape = two_levels_of_panama();
  shape.impair.loss = 0.01;
  const PanamaWorkers::Options options{.world_size = 16, .roots = first(4, spines), .job = 2};
  VirtualFabric fabric(PanamaWorkers::set_up_trees(make_fat_tree(shape), options));
  Workers canary(fabric, {.world_size = 16, .job = 1});
  PanamaWorkers panama(fabric, options);
  for (int collective = 0; collective < 3; ++collective) {
    canary.begin(20'000);
    panama.begin(20'000);
    fabric.run(20s);
    EXPECT_TRUE(canary.all_done());
    EXPECT_TRUE(canary.never_wrong());
    ASSERT_TRUE(panama.all_done());
    EXPECT_EQ(panama.wrong(), 0u);
  }
  expect_balanced(fabric);
}

// The cap follows the number of jobs, and no packet finds the memory full.
TEST(PanamaFabric, JobsShareThePacketMemory) {
  constexpr std::uint32_t memory = 64;
  const PanamaWorkers::Options one{.world_size = 8, .roots = {4}, .job = 1};
  const PanamaWorkers::Options other{.world_size = 8, .roots = {4}, .job = 2, .first_host = 8};
  auto spec = make_fat_tree(two_levels_of_panama(memory));
  spec = PanamaWorkers::set_up_trees(std::move(spec), one);
  VirtualFabric fabric(PanamaWorkers::set_up_trees(std::move(spec), other));
  PanamaWorkers first_job(fabric, one);
  PanamaWorkers second_job(fabric, other);
  first_job.begin(400'000);
  fabric.run_while(
      [&] { return first_job.machine(0).statistics().trees[0].results_received < 1000; }, 1s);
  const auto alone = first_job.machine(0).statistics().trees[0].window_cap;
  second_job.begin(100'000);
  fabric.run_while(
      [&] { return second_job.machine(0).statistics().trees[0].results_received < 800; }, 1s);
  const auto shared = first_job.machine(0).statistics().trees[0].window_cap;
  EXPECT_GT(alone, memory / 2);
  EXPECT_LE(shared, alone / 2 + 2);
  EXPECT_LE(second_job.machine(0).statistics().trees[0].window_cap, memory / 2 + 2);
  fabric.run_while([&] { return second_job.machine(0).running(); }, 10s);
  fabric.run(1ms);
  EXPECT_TRUE(first_job.machine(0).running());
  EXPECT_GT(first_job.machine(0).statistics().trees[0].window_cap, shared) << "alone again";
  fabric.run(10s);
  ASSERT_TRUE(first_job.all_done());
  ASSERT_TRUE(second_job.all_done());
  EXPECT_EQ(first_job.wrong() + second_job.wrong(), 0u);
  EXPECT_EQ(first_job.sent_again() + second_job.sent_again(), 0u);
  EXPECT_EQ(fabric.figure("over_cap_total"), 0u);
  expect_balanced(fabric);
}

// Queues that mark a packet when others wait keep the windows small, and lose nothing.
TEST(PanamaFabric, MarksOfQueuesSlowTheWorkersDown) {
  auto shape = two_levels_of_panama();
  shape.rate_bps = 1'000'000'000;
  for (const bool control : {true, false}) {
    const PanamaWorkers::Options options{
        .world_size = 8, .roots = {4}, .payload_bytes = 1408, .congestion_control = control};
    auto spec = PanamaWorkers::set_up_trees(make_fat_tree(shape), options);
    for (auto& section : spec.switches) {
      for (auto& port : section.config.ports) {
        port.queue.ecn_threshold_packets = 10;
      }
    }
    VirtualFabric fabric(std::move(spec));
    PanamaWorkers workers(fabric, options);
    workers.begin(1'000'000);
    const auto tree = [&] { return workers.machine(0).statistics().trees[0]; };
    fabric.run_while([&] { return tree().results_received < 2500; }, 20s);
    EXPECT_GT(tree().results_marked, 0u);
    EXPECT_EQ(tree().window < 60, control) << tree().window;
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done());
    EXPECT_EQ(workers.wrong(), 0u);
  }
}

TEST(PanamaFabric, ACallGoesOnWithTheWindowOfTheOneBefore) {
  const PanamaWorkers::Options options{.world_size = 8, .roots = {4}};
  VirtualFabric fabric(PanamaWorkers::set_up_trees(make_fat_tree(two_levels_of_panama()), options));
  PanamaWorkers workers(fabric, options);
  const auto time_of = [&](std::size_t count) {
    const auto began = fabric.now();
    workers.begin(count);
    fabric.run_while([&] { return !workers.all_done(); }, 20s);
    EXPECT_EQ(workers.wrong(), 0u);
    return fabric.now() - began;
  };
  const auto first = time_of(8192);
  time_of(200'000);
  const auto later = time_of(8192);
  EXPECT_LT(2 * later, first) << later.count() << " ns, of which a round trip for the grant";
  EXPECT_EQ(workers.sent_again(), 0u);
  EXPECT_EQ(fabric.figure("over_cap_total"), 0u);
  expect_balanced(fabric);
}

// Five ranks of eight were killed while they waited for the others. A sum that may lack some ranks
// could take their packets for those of the new run.
TEST(PanamaFabric, ARunHasNothingOfOneThatWasKilledBeforeIt) {
  PanamaWorkers::Options options{.world_size = 8, .roots = first(2, spines), .quorum = 7};
  VirtualFabric fabric(PanamaWorkers::set_up_trees(make_fat_tree(two_levels_of_panama()), options));
  for (; options.run < 4; ++options.run) {
    {
      PanamaWorkers killed(fabric, options);
      killed.prepare(5000, ElementType::f32, Operator::sum);
      killed.fill(1e6f);
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        killed.begin_rank(rank);
      }
      fabric.run(50ms);
    }
    ++options.run;
    PanamaWorkers workers(fabric, options);
    workers.begin(5000, ElementType::f32);
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done()) << workers.machine(0).failure().value_or(Error{}).message;
    EXPECT_LE(workers.greatest(), 8 * 8) << "of eight ranks that contribute up to 8";
  }
  expect_balanced(fabric);
}

TEST(PanamaFabric, AQuorumDoesNotWaitForALateRank) {
  const PanamaWorkers::Options options{.world_size = 8, .roots = first(2, spines), .quorum = 7};
  VirtualFabric fabric(PanamaWorkers::set_up_trees(make_fat_tree(two_levels_of_panama()), options));
  PanamaWorkers workers(fabric, options);
  for (int collective = 0; collective < 3; ++collective) {
    workers.prepare(5000, ElementType::i32, Operator::sum);
    for (std::uint32_t rank = 0; rank < 7; ++rank) {
      workers.begin_rank(rank);
    }
    fabric.run_while([&] { return workers.machine(0).running(); }, 1s);
    EXPECT_FALSE(workers.machine(0).running());
    workers.begin_rank(7);
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done());
    EXPECT_EQ(workers.wrong(7), 0u) << "the last rank is in no sum";
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(workers.machine(rank).partial_results(),
                (std::vector<PartialResult>{{0, 5000, {7}}}));
    }
  }
  EXPECT_EQ(workers.machine(0).statistics().contributions_missing, 3u * 79);
  expect_balanced(fabric);
}

}  // namespace
}  // namespace tributary::test
