// SPDX-License-Identifier: BSD-3-Clause
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "background_flows.h"
#include "background_pace.h"
#include "background_peers.h"

namespace tributary::bench {
namespace {

TEST(Peers, UniformHostReachesAllOthersAndNeverItself) {
  const Peers peers(Pattern::uniform, 5, 2, 1);
  std::set<std::size_t> seen;
  for (std::uint64_t turn = 0; turn < 200; ++turn) {
    seen.insert(peers.at(turn));
  }
  EXPECT_EQ(seen, (std::set<std::size_t>{0, 1, 3, 4}));
}

TEST(Peers, UniformHostsOfOneSeedDrawDifferently) {
  int equal = 0;
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    equal += Peers(Pattern::uniform, 9, 0, 1).at(turn) == Peers(Pattern::uniform, 9, 1, 1).at(turn);
  }
  EXPECT_LT(equal, 50);
}

TEST(Peers, SameSeedDrawsTheSameAndAnotherSeedAnother) {
  int equal = 0;
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    EXPECT_EQ(Peers(Pattern::uniform, 9, 3, 7).at(turn), Peers(Pattern::uniform, 9, 3, 7).at(turn));
    equal += Peers(Pattern::uniform, 9, 3, 7).at(turn) == Peers(Pattern::uniform, 9, 3, 8).at(turn);
  }
  EXPECT_LT(equal, 50);
}

TEST(Peers, InAPermutationEachHostReceivesFromExactlyOneOther) {
  for (std::uint64_t turn = 0; turn < 100; ++turn) {
    std::set<std::size_t> receivers;
    for (std::size_t self = 0; self < 7; ++self) {
      const std::size_t peer = Peers(Pattern::permutation, 7, self, 1).at(turn);
      EXPECT_NE(peer, self);
      receivers.insert(peer);
    }
    EXPECT_EQ(receivers.size(), 7u);
  }
}

TEST(Pace, SendsAtTheRateOfTheLine) {
  Pace pace(12'304'000, 1538, 0);  // 1000 packets a second
  std::uint64_t packets = 0;
  for (std::int64_t now = 0; now < 1'000'000'000; now += 2'300'000) {
    packets += pace.due(now);
  }
  EXPECT_NEAR(static_cast<double>(packets), 1000.0, 3.0);
}

TEST(Pace, DoesNotMakeUpForALongPause) {
  Pace pace(12'304'000, 1538, 0);
  EXPECT_EQ(pace.due(0), 1u);
  const std::uint64_t burst = pace.due(5'000'000'000);
  EXPECT_GE(burst, 20u);
  EXPECT_LE(burst, 21u);
}

BackgroundHeader header(std::uint32_t sender, std::uint64_t sequence) {
  BackgroundHeader made;
  made.magic = background_magic;
  made.sender = sender;
  made.sequence = sequence;
  return made;
}

TEST(ArrivedFlows, CountsGapsOfEachFlowWhateverTheOrder) {
  ArrivedFlows flows(2);
  for (const std::uint64_t sequence : {5, 3, 8, 4}) {  // 6 and 7 are missing
    EXPECT_TRUE(flows.arrived(header(0, sequence)));
  }
  EXPECT_TRUE(flows.arrived(header(1, 100)));
  EXPECT_EQ(flows.packets(), 5u);
  EXPECT_EQ(flows.lost(), 2u);
}

TEST(ArrivedFlows, DuplicatesDoNotMakeLossesNegative) {
  ArrivedFlows flows(1);
  flows.arrived(header(0, 1));
  flows.arrived(header(0, 1));
  EXPECT_EQ(flows.lost(), 0u);
}

TEST(ArrivedFlows, RefusesStrangers) {
  ArrivedFlows flows(2);
  EXPECT_FALSE(flows.arrived(header(2, 0)));
  BackgroundHeader other = header(0, 0);
  other.magic = 1;
  EXPECT_FALSE(flows.arrived(other));
  EXPECT_EQ(flows.packets(), 0u);
}

}  // namespace
}  // namespace tributary::bench
