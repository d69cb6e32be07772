// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/early_packets.h"

#include "fixture.h"

namespace tributary::panama {
namespace {

class EarlyPacketsTest : public ::testing::Test {
 protected:
  void put(std::size_t child, const PanamaSpec& spec, Time since = {}) {
    auto& of = early_[child];
    of.round = {spec.run, spec.epoch};
    of.since = of.count() == 0 ? since : of.since;
    *of.place_of(spec.vid) = test::make_panama(pool_, spec, Ints{1});
  }
  static PanamaSpec nth(std::uint32_t vid, std::uint32_t epoch = 0) {
    auto spec = from(root_of(3), 0, vid);
    spec.run = 1;
    spec.epoch = epoch;
    return spec;
  }

  HeapPacketPool pool_{8, 512};
  EarlyPackets early_{3};
};

TEST_F(EarlyPacketsTest, AChildHasAPlaceForEachVidOfAnInitialWindow) {
  put(0, nth(4));
  put(0, nth(5));
  EXPECT_EQ(early_[0].count(), initial_window);
  EXPECT_EQ(early_[0].place_of(6), nullptr);
  EXPECT_EQ(early_[0].place_of(5), &early_[0].packets[1]) << "it takes the place of the other";
  early_[0].packets[0].reset();
  EXPECT_EQ(early_[0].place_of(5), &early_[0].packets[1]);
  EXPECT_EQ(early_[0].place_of(6), &early_[0].packets[0]);
}

TEST_F(EarlyPacketsTest, AreSummedUpByEpoch) {
  auto large = nth(3);
  large.contributions = 2;
  put(0, large);
  put(0, nth(2));
  put(1, nth(0, 9));
  put(2, again(nth(7)));
  const auto there = early_.find({1, 0});
  EXPECT_EQ(there.children, 0b101u);
  EXPECT_EQ(there.workers, 3u) << "of each child's larger packet";
  EXPECT_EQ(there.lowest_vid, 2u);
  EXPECT_TRUE(there.again);
  EXPECT_FALSE(early_.find({1, 9}).again);
  EXPECT_EQ(early_.find({2, 0}).children, 0u) << "of another run";
  EXPECT_EQ(early_.count(), 4u);
}

TEST_F(EarlyPacketsTest, TheFirstThatCameHasWaitedForLongest) {
  EXPECT_EQ(early_.longest(), nullptr);
  put(2, nth(0), Time{2s});
  put(1, nth(0), Time{1s});
  put(1, nth(1), Time{3s});
  EXPECT_EQ(early_.longest(), &early_[1]);
}

}  // namespace
}  // namespace tributary::panama
