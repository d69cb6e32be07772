// SPDX-License-Identifier: BSD-3-Clause
// Tests the table of policies, their common code, and the two policies that keep no memory of flows
// or trees.
#include "forwarding/policy.h"

#include <set>

#include <gtest/gtest.h>

#include "unit/forwarding/choices.h"

namespace tributary::forwarding {
namespace {

TEST(Policy, EveryRowIsWhereItsEnumeratorSays) {
  EXPECT_EQ(name(Policy::ecmp), "ecmp");
  EXPECT_EQ(row_of(Policy::ecmp).choose, choose_ecmp);
  EXPECT_EQ(name(Policy::flowlet), "flowlet");
  EXPECT_EQ(row_of(Policy::flowlet).choose, choose_flowlet);
  EXPECT_EQ(name(Policy::adaptive), "adaptive");
  EXPECT_EQ(row_of(Policy::adaptive).choose, choose_adaptive);
  EXPECT_EQ(name(Policy::static_trees), "static");
  EXPECT_EQ(row_of(Policy::static_trees).choose, choose_static_tree);
}

TEST(Policy, NoneChoosesAHopThatIsDown) {
  for (std::size_t policy = 0; policy < policies.size(); ++policy) {
    Choices choices(4);
    choices.set_up(1, false);
    choices.set_up(2, false);
    choices.config.trees = 4;
    std::set<std::size_t> chosen;
    for (std::uint32_t i = 0; i < 500; ++i) {
      if (i == 250) {  // also where everything is full
        choices.fill(0, 1000);
        choices.fill(3, 1000);
      }
      chosen.insert(choices.choose(static_cast<Policy>(policy), {i * 0x01234567u, i}));
    }
    EXPECT_EQ(chosen, (std::set<std::size_t>{0, 3})) << policy_names[policy].text;
  }
}

TEST(Policy, ADownHopMovesItsOwnTrafficOnlyAndSpreadsIt) {
  Choices before(4);
  Choices after(4);
  after.set_up(2, false);
  std::set<std::size_t> refuges;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const Flow flow{i * 0x9876543bu, 0};
    const auto was = before.choose(Policy::ecmp, flow);
    const auto is = after.choose(Policy::ecmp, flow);
    if (was == 2) {
      refuges.insert(is);
    } else {
      EXPECT_EQ(is, was);
    }
  }
  EXPECT_EQ(refuges, (std::set<std::size_t>{0, 1, 3}));
}

TEST(Ecmp, LooksAtNoQueue) {
  Choices choices(4);
  choices.fill(2, 1000);
  EXPECT_EQ(choices.choose(Policy::ecmp, flow_to(2, 4)), 2u);
}

TEST(Adaptive, KeepsTheDefaultPortUpToHalfOfItsQueue) {
  Choices choices(4);
  choices.fill(1, Choices::capacity / 2);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 4)), 1u) << "exactly 50 % is not above";
  EXPECT_EQ(choices.counters().evaded, 0u);
  choices.fill(1, Choices::capacity / 2 + 1);
  EXPECT_NE(choices.choose(Policy::adaptive, flow_to(1, 4)), 1u);
  EXPECT_EQ(choices.counters().evaded, 1u);
}

TEST(Adaptive, BlocksLeaveADefaultPortThatMeetsWithMoreCongestion) {
  Choices choices(4);
  for (std::size_t i = 0; i < 4000; ++i) {
    choices.group().shares.note(i % 4, i % 4 == 1, choices.group().up);
  }
  unsigned stayed = 0;
  for (std::uint32_t block = 0; block < 1000; ++block) {
    auto flow = flow_to(1, 4, block);
    EXPECT_EQ(choices.choose(Policy::adaptive, flow), 1u) << "not a block";
    flow.reduction = true;
    stayed += choices.choose(Policy::adaptive, flow) == 1 ? 1 : 0;
  }
  EXPECT_GT(stayed, 0u);
  EXPECT_LT(stayed, 50u);
}

TEST(RootBehind, IsTheHopByWhichTheResultCame) {
  Choices choices(4);
  const auto hash = flow_to(1, 4).hash;
  EXPECT_EQ(root_behind(choices.group(), hash, 1), 1u);
  EXPECT_EQ(root_behind(choices.group(), hash, 3), 3u);
  choices.set_up(3, false);
  EXPECT_EQ(root_behind(choices.group(), hash, 3), 1u) << "it leads nowhere any more";
  EXPECT_EQ(root_behind(choices.group(), hash, no_port), 1u) << "nobody knows";
}

TEST(Adaptive, EvadesToTheFewestBytesAndNotToAFullerPort) {
  Choices choices(4);
  choices.fill(0, 300);
  choices.fill(1, 600);
  choices.fill(2, 200);
  choices.fill(3, 201);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 4)), 2u);
  choices.set_up(2, false);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 4)), 3u);
  choices.fill(0, 700);
  choices.fill(3, 800);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 4)), 1u) << "all above half, it has fewest";
  EXPECT_EQ(choices.counters().evaded, 2u);
}

TEST(Adaptive, TiesGoToTheDefaultThenToTheNextInOrder) {
  Choices choices(4);
  for (PortIndex port = 0; port < 4; ++port) {
    choices.fill(port, 900);
  }
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(3, 4)), 3u);
  choices.fill(0, 100);
  choices.fill(1, 100);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(3, 4)), 0u);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(2, 4)), 0u);
  choices.fill(3, 100);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(2, 4)), 3u);
}

TEST(Adaptive, EvadesToTheQueueThatItsLineEmptiesFirst) {
  Choices choices(3);
  for (PortIndex port = 0; port < 3; ++port) {
    choices.pace(port, 1'000'000'000);
  }
  choices.fill(0, 100);
  choices.fill(1, 600);
  choices.fill(2, 400);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 0u);
  choices.pace(2, 10'000'000'000);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 2u);
  choices.fill(0, 40);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 2u) << "alike: the next in order";
  choices.fill(0, 39);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 0u);
}

TEST(Adaptive, AShortQueueThatIsAlmostFullIsNoRefuge) {
  Choices choices(3);
  choices.fill(1, 600);
  choices.limit(0, 100);
  choices.fill(0, 80);
  choices.fill(2, 400);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 2u);
  choices.fill(2, 700);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 1u) << "all above half, it least";
  choices.fill(0, 59);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow_to(1, 3)), 0u);
}

TEST(Adaptive, ReductionsLeaveAHopBehindWhichAQueueFillsUp) {
  Choices choices(3);
  auto flow = flow_to(1, 3);
  choices.crowd(1);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow), 1u)
      << "ordinary packets meet one queue of many";
  flow.reduction = true;
  EXPECT_EQ(choices.choose(Policy::adaptive, flow), 2u);
  EXPECT_EQ(choices.counters().evaded, 1u);
  choices.fill(0, 600);
  choices.fill(2, 600);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow), 1u) << "nor are the others any better";
  EXPECT_EQ(choices.choose(Policy::ecmp, flow), 1u);
}

TEST(Adaptive, NoneGoesToAHopBehindWhichAQueueFillsUp) {
  Choices choices(3);
  auto flow = flow_to(1, 3);
  flow.reduction = true;
  choices.fill(1, 600);
  choices.fill(0, 100);
  choices.crowd(2);
  EXPECT_EQ(choices.choose(Policy::adaptive, flow), 0u);
}

TEST(Adaptive, ABurstDoesNotRunToOnePort) {
  Choices choices(3);
  choices.fill(0, 900);
  std::vector<unsigned> hits(3);
  for (int i = 0; i < 8; ++i) {
    const auto hop = choices.choose(Policy::adaptive, flow_to(0, 3));
    choices.queues().add(static_cast<PortIndex>(hop), 100);
    ++hits[hop];
  }
  EXPECT_EQ(hits, (std::vector<unsigned>{0, 4, 4}));
}

}  // namespace
}  // namespace tributary::forwarding
