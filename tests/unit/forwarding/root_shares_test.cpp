// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/root_shares.h"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

class RootSharesTest : public testing::Test {
 protected:
  // Gives results of each hop in turn; those of the hops in `congested` are marked.
  void results(unsigned count, const std::vector<bool>& congested) {
    for (unsigned i = 0; i < count; ++i) {
      for (std::size_t hop = 0; hop < up_.size(); ++hop) {
        if (up_[hop]) {
          shares_.note(hop, congested[hop], up_);
        }
      }
    }
  }

  std::vector<bool> up_{true, true, true};
  RootShares shares_{3};
};

TEST_F(RootSharesTest, AllIsKeptAtFirst) {
  EXPECT_FALSE(shares_.reduced());
  EXPECT_TRUE(shares_.keeps(2, 0xffffffff));
}

TEST_F(RootSharesTest, ASlowerLineKeepsWhatItCarriesBesideTheFastest) {
  shares_.weigh({10, 40, 0});
  EXPECT_EQ(shares_.share(0), RootShares::all / 4);
  EXPECT_EQ(shares_.share(1), RootShares::all);
  EXPECT_EQ(shares_.share(2), RootShares::all) << "nobody knows";
  results(64, {true, false, false});
  EXPECT_LT(shares_.share(0), RootShares::all / 8);
  results(1000, {false, false, false});
  EXPECT_EQ(shares_.share(0), RootShares::all / 4);
}

TEST_F(RootSharesTest, LinesOfOneRateKeepAll) {
  shares_.weigh({40, 40, 40});
  EXPECT_FALSE(shares_.reduced());
  shares_.weigh({0, 0, 0});
  EXPECT_FALSE(shares_.reduced());
}

TEST_F(RootSharesTest, AHopThatMeetsWithMoreCongestionGivesBlocksUp) {
  results(64, {false, true, false});
  EXPECT_LT(shares_.share(1), RootShares::all / 4);
  EXPECT_EQ(shares_.share(0), RootShares::all);
  EXPECT_FALSE(shares_.keeps(1, RootShares::all - 1));
  EXPECT_TRUE(shares_.keeps(0, RootShares::all - 1));
}

TEST_F(RootSharesTest, SomeAreLeftToTryAgain) {
  results(10'000, {false, true, false});
  EXPECT_EQ(shares_.share(1), RootShares::least);
  EXPECT_TRUE(shares_.keeps(1, RootShares::least - 1));
}

TEST_F(RootSharesTest, BlocksComeBackWhenTheCongestionIsOver) {
  results(64, {false, true, false});
  results(1000, {false, false, false});
  EXPECT_FALSE(shares_.reduced());
}

TEST_F(RootSharesTest, WhereAllAreCongestedAlikeNoneIsBetter) {
  results(1000, {true, true, true});
  EXPECT_FALSE(shares_.reduced());
}

TEST_F(RootSharesTest, AHopThatIsDownIsNoBetterOne) {
  up_ = {true, true, false};
  results(1000, {true, true, false});
  EXPECT_FALSE(shares_.reduced());
}

// Such a hop may lose all packets that it gets.
TEST_F(RootSharesTest, AHopOfWhichNothingIsHeardIsNoBetterOne) {
  for (int i = 0; i < 1000; ++i) {
    shares_.note(0, true, up_);
    shares_.note(1, true, up_);
  }
  EXPECT_FALSE(shares_.reduced());
  results(100, {true, true, false});
  EXPECT_TRUE(shares_.reduced());
}

TEST_F(RootSharesTest, ShortCongestionMovesNothing) {
  for (int i = 0; i < 100; ++i) {
    results(4, {i % 3 == 0, i % 3 == 1, i % 3 == 2});
  }
  EXPECT_FALSE(shares_.reduced());
}

}  // namespace
}  // namespace tributary::forwarding
