// SPDX-License-Identifier: BSD-3-Clause
// Tests Flare over whole fabrics in virtual time, with its engine in every switch and its machine
// on every host.
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/flare/engine/config.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/flare_workers.h"
#include "unit/fabric/workers.h"
#include "unit/host/vectors.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

// Leaves 0 to 3, spines 4 to 7; four hosts behind each leaf.
FatTree two_levels_of_flare() {
  return {.leaves = 4, .hosts_per_leaf = 4, .spines = 4};
}

constexpr std::size_t a_leaf = 1;
constexpr std::size_t a_spine = 6;

// Expects that one allreduce by all workers, without loss, is exact.
void expect_exact(FatTree shape, const FlareWorkers::Options& options, std::size_t count,
                  ElementType type = ElementType::i32, Operator op = Operator::sum) {
  shape.canary.descriptors = 64;  // nobody uses Canary, and a larger table takes long to make
  VirtualFabric fabric(FlareWorkers::set_up_tree(make_fat_tree(shape), options));
  FlareWorkers workers(fabric, options);
  workers.begin(count, type, op);
  fabric.run(20s);
  const auto what = std::to_string(options.world_size) + " ranks, window " +
                    std::to_string(options.window) + ", " + std::to_string(count) +
                    " elements of " + std::string(name(type)) + ", " + std::string(name(op)) +
                    (options.reproducible ? ", reproducible" : "");
  ASSERT_TRUE(workers.all_done()) << what;
  EXPECT_EQ(workers.wrong(), 0u) << what;
  EXPECT_EQ(workers.sent_again(), 0u) << what;
  expect_balanced(fabric);
}

void expect_exact_for_all_worlds(const FatTree& shape, std::size_t root) {
  for (std::uint32_t world = 2; world <= 16; ++world) {
    for (const std::uint32_t window : {1u, 5u, 64u}) {
      for (const bool reproducible : {false, true}) {
        expect_exact(
            shape,
            {.world_size = world, .root = root, .window = window, .reproducible = reproducible},
            1501);
      }
    }
  }
}

TEST(FlareFabric, ExactOverOneSwitch) {
  expect_exact_for_all_worlds({.leaves = 1, .hosts_per_leaf = 16, .spines = 0}, 0);
}

TEST(FlareFabric, ExactOverTwoLevels) {
  expect_exact_for_all_worlds(two_levels_of_flare(), a_spine);
}

// With a leaf at the root, a packet of another leaf passes three switches.
TEST(FlareFabric, ExactOverThreeLevels) {
  expect_exact_for_all_worlds(two_levels_of_flare(), a_leaf);
}

TEST(FlareFabric, ExactForEveryTypeAndOperator) {
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const auto type = static_cast<ElementType>(t);
      const auto op = static_cast<Operator>(o);
      for (const bool reproducible : {false, true}) {
        if (wire::is_valid(type, op)) {
          expect_exact(two_levels_of_flare(),
                       {.world_size = 7, .root = a_spine, .reproducible = reproducible}, 1001, type,
                       op);
        }
      }
    }
  }
}

// Every cable loses, duplicates, reorders and damages packets.
TEST(FlareFabric, ExactOverBadCables) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto shape = two_levels_of_flare();
    shape.impair.loss = 0.01;
    shape.impair.duplicate = 0.01;
    shape.impair.reorder = 0.01;
    shape.impair.corrupt = 0.002;
    const FlareWorkers::Options options{.world_size = static_cast<std::uint32_t>(2 + seed),
                                        .root = a_spine,
                                        .window = 1u << seed % 7,
                                        .reproducible = seed % 2 == 0};
    auto spec = FlareWorkers::set_up_tree(make_fat_tree(shape), options);
    spec.seed = seed;
    VirtualFabric fabric(std::move(spec));
    FlareWorkers workers(fabric, options);
    std::uint64_t wrong = 0;
    for (int collective = 0; collective < 3; ++collective) {
      workers.begin(5'000, ElementType::i32, Operator::sum, 60s);
      fabric.run(61s);
      ASSERT_TRUE(workers.all_done())
          << "seed " << seed << ": " << workers.machine(0).failure().value_or(Error{}).message;
      wrong += workers.wrong();
    }
    EXPECT_EQ(wrong, 0u) << "seed " << seed;
    EXPECT_GT(workers.sent_again(), 0u);
    expect_balanced(fabric);
  }
}

TEST(FlareFabric, BesideCanary) {
  auto shape = two_levels_of_flare();
  shape.impair.loss = 0.01;
  const FlareWorkers::Options options{.world_size = 16, .root = a_spine, .job = 2};
  VirtualFabric fabric(FlareWorkers::set_up_tree(make_fat_tree(shape), options));
  Workers canary(fabric, {.world_size = 16, .job = 1});
  FlareWorkers flare(fabric, options);
  for (int collective = 0; collective < 3; ++collective) {
    canary.begin(20'000);
    flare.begin(20'000);
    fabric.run(20s);
    EXPECT_TRUE(canary.all_done());
    EXPECT_TRUE(canary.never_wrong());
    ASSERT_TRUE(flare.all_done());
    EXPECT_EQ(flare.wrong(), 0u);
  }
  expect_balanced(fabric);
}

// Each switch restarts once in the middle, and forgets everything.
TEST(FlareFabric, ExactOverSwitchesThatRestart) {
  auto shape = two_levels_of_flare();
  shape.impair.delay = 20us;
  const FlareWorkers::Options options{.world_size = 16, .root = a_spine, .window = 16};
  VirtualFabric fabric(FlareWorkers::set_up_tree(make_fat_tree(shape), options));
  FlareWorkers workers(fabric, options);
  workers.begin(60'000, ElementType::i32, Operator::sum, 60s);
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    fabric.at(fabric.now() + 300us * (1 + index),
              [&fabric, index] { fabric.restart_switch(index); });
  }
  fabric.run(61s);
  ASSERT_TRUE(workers.all_done()) << workers.machine(0).failure().value_or(Error{}).message;
  EXPECT_EQ(workers.wrong(), 0u);
  EXPECT_GT(fabric.figure("inquiries_sent_total", "flare"), 0u) << "or nothing was lost";
}

// A core may own none of the blocks with which a run begins.
TEST(FlareFabric, EveryCoreNoticesThatARunBegins) {
  FlareWorkers::Options options{.world_size = 6, .root = a_spine, .window = 1};
  auto spec = FlareWorkers::set_up_tree(make_fat_tree(two_levels_of_flare()), options);
  spec.cores = 7;
  VirtualFabric fabric(std::move(spec));
  for (; options.run < 12; ++options.run) {
    FlareWorkers workers(fabric, options);
    workers.begin(8'000);
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done()) << "run " << unsigned{options.run};
    EXPECT_EQ(workers.wrong(), 0u);
    EXPECT_EQ(workers.sent_again(), 0u);
  }
  expect_balanced(fabric);
}

// Two or more of a switch's children come to each of its cores.
TEST(FlareFabric, CoresHandOverPartialSums) {
  for (const bool partial_sums : {true, false}) {
    for (const unsigned cores : {2u, 3u}) {
      const FlareWorkers::Options options{.world_size = 16, .root = a_spine};
      auto spec = FlareWorkers::set_up_tree(make_fat_tree(two_levels_of_flare()), options);
      spec.cores = cores;
      for (auto& each : spec.switches) {
        each.config.protocols.get<flare::FlareConfig>().partial_sums = partial_sums;
      }
      VirtualFabric fabric(std::move(spec));
      FlareWorkers workers(fabric, options);
      workers.begin(100'000);
      fabric.run(20s);
      ASSERT_TRUE(workers.all_done());
      EXPECT_EQ(workers.wrong(), 0u);
      EXPECT_EQ(workers.sent_again(), 0u);
      const auto sums = fabric.figure("handed_over_sums_total", "flare");
      const auto blocks = fabric.figure("sums_total", "flare");
      EXPECT_EQ(sums > blocks / 2, partial_sums) << sums << " of " << blocks << ", " << cores;
      expect_balanced(fabric);
    }
  }
}

// Five ranks of eight were killed while they waited for the others: their packets must not be part
// of the next run, and must not prevent it.
TEST(FlareFabric, ARunHasNothingOfOneThatWasKilledBeforeIt) {
  FlareWorkers::Options options{.world_size = 8, .root = a_spine, .window = 8};
  VirtualFabric fabric(FlareWorkers::set_up_tree(make_fat_tree(two_levels_of_flare()), options));
  for (; options.run < 4; ++options.run) {
    {
      FlareWorkers killed(fabric, options);
      killed.prepare(5000, ElementType::i32, Operator::prod);
      for (std::uint32_t rank = 0; rank < 5; ++rank) {
        killed.begin_rank(rank);
      }
      fabric.run(50ms);
    }
    ++options.run;
    FlareWorkers workers(fabric, options);
    workers.begin(5000);
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done()) << workers.machine(0).failure().value_or(Error{}).message;
    EXPECT_EQ(workers.wrong(), 0u);
  }
  expect_balanced(fabric);
}

// Rank 1 gets no results, and asks for them when rank 0 has already gone on, past a call that it
// refused, to blocks in the slots of the results.
TEST(FlareFabric, ARankThatRefusesACallLeavesToTheOthersWhatTheyLack) {
  for (const std::size_t refused : {2u, 4u, 100u}) {
    const FlareWorkers::Options options{.world_size = 2, .root = 0, .window = 4};
    VirtualFabric fabric(FlareWorkers::set_up_tree(
        make_fat_tree({.leaves = 1, .hosts_per_leaf = 2, .spines = 0}), options));
    FlareWorkers workers(fabric, options);
    constexpr std::size_t block = 64;  // elements
    workers.begin(4 * block);
    fabric.at(fabric.now() + 2us, [&fabric] { fabric.suspend(1, fabric.now() + 2ms); });
    fabric.run_while([&] { return workers.machine(0).running(); }, 1ms);
    ASSERT_FALSE(workers.machine(0).running());
    ASSERT_TRUE(workers.machine(1).running());

    host::test::Vectors left_out(2, refused * block, ElementType::i32, Operator::sum);
    host::test::Vectors later(2, 10 * block, ElementType::i32, Operator::sum);
    const auto go_on = [&](std::uint32_t rank) {
      workers.machine(rank).skip(left_out.apart(rank));
      workers.machine(rank).begin(later.apart(rank), fabric.host_now(), fabric.host_now() + 10s);
    };
    go_on(0);
    fabric.run_while([&] { return workers.machine(1).running(); }, 5s);
    ASSERT_FALSE(workers.machine(1).running()) << refused;
    EXPECT_FALSE(workers.machine(1).failure()) << refused;
    EXPECT_EQ(workers.wrong(), 0u);

    go_on(1);
    fabric.run(5s);
    EXPECT_TRUE(workers.all_done()) << refused;
    EXPECT_EQ(later.wrong(), 0u);
    expect_balanced(fabric);
  }
}

// Returns one result for each seed, of floats whose sum depends on the order, over cables that
// change the order. It checks that all ranks have the same result.
std::vector<host::test::Elements> results_of_scattered(bool reproducible, bool restarts) {
  std::vector<host::test::Elements> results;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto shape = two_levels_of_flare();
    shape.impair.loss = 0.01;
    shape.impair.duplicate = 0.01;
    shape.impair.jitter = 200us;
    const FlareWorkers::Options options{
        .world_size = 13, .root = a_leaf, .window = 16, .reproducible = reproducible};
    auto spec = FlareWorkers::set_up_tree(make_fat_tree(shape), options);
    spec.seed = seed;
    VirtualFabric fabric(std::move(spec));
    FlareWorkers workers(fabric, options);
    workers.prepare(4'000, ElementType::f32, Operator::sum);
    workers.scatter();
    workers.begin_all(60s);
    for (std::size_t index = 0; restarts && index < fabric.switch_count(); ++index) {
      fabric.at(fabric.now() + 1ms * (1 + index),
                [&fabric, index] { fabric.restart_switch(index); });
    }
    fabric.run(61s);
    EXPECT_TRUE(workers.all_done()) << "seed " << seed;
    for (std::uint32_t rank = 1; reproducible && rank < options.world_size; ++rank) {
      EXPECT_EQ(workers.result(rank), workers.result(0)) << "seed " << seed << ", rank " << rank;
    }
    results.push_back(workers.result(0));
  }
  return results;
}

TEST(FlareFabric, ReproducibleSumsHaveTheSameBitsInWhateverOrderPacketsCome) {
  for (const bool restarts : {false, true}) {
    const auto results = results_of_scattered(true, restarts);
    for (const auto& result : results) {
      EXPECT_EQ(result, results.front());
    }
  }
}

TEST(FlareFabric, OtherSumsDependOnTheOrder) {
  const auto results = results_of_scattered(false, false);
  EXPECT_NE(results[0], results[1]) << "or the test before this one shows nothing";
}

}  // namespace
}  // namespace tributary::test
