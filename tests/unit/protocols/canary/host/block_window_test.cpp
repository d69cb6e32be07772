// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/block_window.h"

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t roomy = 100'000;

// A path whose shortest round trip holds so many blocks; further blocks wait in a queue.
struct ModelPath {
  std::uint32_t holds = 0;
  Duration shortest = 40us;

  Duration round_trip(std::uint32_t open) const {
    return open <= holds ? shortest : shortest * open / holds;
  }
};

// Passes so many rounds, each with a whole window of blocks.
void pass_rounds(BlockWindow& window, const ModelPath& path, int rounds, bool congested = false) {
  for (int i = 0; i < rounds; ++i) {
    const auto open = window.size();
    const auto before = window.blocks_done();
    for (std::uint32_t block = 0; block < open; ++block) {
      window.measure(before + block - open, path.round_trip(open));
      window.done(congested, true);
    }
  }
}

TEST(BlockWindow, GrowsToTwiceWhatThePathHolds) {
  for (const std::uint32_t holds : {100u, 333u, 2000u}) {
    BlockWindow window(roomy, true);
    EXPECT_EQ(window.size(), BlockWindow::initial);
    pass_rounds(window, {holds}, 200);
    EXPECT_GE(window.size(), holds * 19 / 10);
    EXPECT_LE(window.size(), holds * 21 / 10);
  }
}

TEST(BlockWindow, TakesEveryPathToHoldAFew) {
  BlockWindow window(roomy, true);
  pass_rounds(window, {3}, 200);
  EXPECT_EQ(window.size(), BlockWindow::held_min);
}

TEST(BlockWindow, KeepsToWhatTheRanksHaveMemoryFor) {
  for (const std::uint32_t memory : {1u, 5u, 16u, 100u}) {
    BlockWindow window(memory, true);
    EXPECT_EQ(window.size(), std::min(memory, BlockWindow::initial));
    pass_rounds(window, {1000}, 50);
    EXPECT_EQ(window.size(), memory);
  }
}

TEST(BlockWindow, YieldsToMarks) {
  BlockWindow window(roomy, true);
  pass_rounds(window, {1000}, 20);
  pass_rounds(window, {1000}, 100, true);
  EXPECT_EQ(window.size(), 1u);
}

TEST(BlockWindow, DoesNotGrowWhereNobodyNeedsMore) {
  BlockWindow window(roomy, true);
  for (int i = 0; i < 1000; ++i) {
    window.done(false, false);
  }
  EXPECT_EQ(window.size(), BlockWindow::initial);
}

TEST(BlockWindow, WithoutCongestionControlItIsWhatWasAgreedOn) {
  BlockWindow window(300, false);
  EXPECT_EQ(window.size(), 300u);
  pass_rounds(window, {3}, 10, true);
  EXPECT_EQ(window.size(), 300u);
}

// Networks of other tests take no time.
TEST(BlockWindow, RoundTripsWithoutLengthTellNothing) {
  BlockWindow window(roomy, true);
  pass_rounds(window, {100, 0us}, 50);
  EXPECT_EQ(window.size(), BlockWindow::held_min);
}

}  // namespace
}  // namespace tributary::host
