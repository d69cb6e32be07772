// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/fdb.h"

#include <vector>

#include <gtest/gtest.h>

#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;
using LearnResult = Fdb::LearnResult;

wire::MacAddress mac(unsigned number) {
  return {{0x02, 0, 0, 0, static_cast<std::uint8_t>(number >> 8),
           static_cast<std::uint8_t>(number & 0xff)}};
}

TEST(Fdb, LearnsMovesAndAges) {
  Fdb fdb(16, 300s, 1);
  EXPECT_EQ(fdb.find(mac(1), start), no_port);
  EXPECT_EQ(fdb.learn(mac(1), 3, start), LearnResult::updated);
  EXPECT_EQ(fdb.find(mac(1), start), 3);
  EXPECT_EQ(fdb.learn(mac(1), 4, start + 1s), LearnResult::updated);
  EXPECT_EQ(fdb.find(mac(1), start + 1s), 4);
  EXPECT_EQ(fdb.find(mac(1), start + 301s), 4);
  EXPECT_EQ(fdb.find(mac(1), start + 302s), no_port);
}

TEST(Fdb, TeachesAgainOnlyAfterAQuarterOfTheAgeing) {
  Fdb fdb(16, 400s, 1);
  fdb.learn(mac(1), 3, start);
  EXPECT_EQ(fdb.learn(mac(1), 3, start + 99s), LearnResult::known);
  EXPECT_EQ(fdb.learn(mac(1), 3, start + 100s), LearnResult::updated);
  EXPECT_EQ(fdb.learn(mac(1), 3, start + 101s), LearnResult::known);
}

TEST(Fdb, SeesAgainOnlyWhatIsNoNews) {
  Fdb fdb(16, 400s, 1);
  fdb.add_static(mac(2), 3);
  EXPECT_FALSE(fdb.see_again(fdb.prefetch(mac(1)), mac(1), 3, start)) << "unknown";
  EXPECT_FALSE(fdb.see_again(fdb.prefetch(mac(2)), mac(2), 3, start)) << "static";
  EXPECT_EQ(fdb.size(), 1u);
  fdb.learn(mac(1), 3, start);
  const auto home = fdb.prefetch(mac(1));
  EXPECT_FALSE(fdb.see_again(home, mac(1), 4, start)) << "moved";
  EXPECT_EQ(fdb.find(home, mac(1), start), 3);
  EXPECT_TRUE(fdb.see_again(home, mac(1), 3, start + 99s));
  EXPECT_FALSE(fdb.see_again(home, mac(1), 3, start + 100s)) << "other cores want to know";
  EXPECT_EQ(fdb.find(home, mac(1), start + 499s), 3);
  EXPECT_EQ(fdb.find(home, mac(1), start + 500s), no_port) << "last seen at 99 s";
}

TEST(Fdb, AShorterAgeingFreesRoomAtOnce) {
  Fdb fdb(8, 24h, 1);
  fdb.set_learning(std::vector<LearningConfig>{{}, {true, 1}});
  fdb.learn(mac(1), 1, start);
  fdb.set_ageing(10s);
  EXPECT_LE(fdb.deadline(), start + 11s);
  fdb.expire(start + 11s);
  EXPECT_EQ(fdb.size(), 0u);
  EXPECT_EQ(fdb.learn(mac(2), 1, start + 11s), LearnResult::updated);
}

TEST(Fdb, SweepFreesTheRoomOfAgedEntries) {
  Fdb fdb(4, 10s, 1);
  EXPECT_EQ(fdb.deadline(), never);
  for (unsigned i = 0; i < 4; ++i) {
    fdb.learn(mac(i), 0, start);
  }
  EXPECT_EQ(fdb.learn(mac(9), 0, start), LearnResult::full);
  EXPECT_EQ(fdb.deadline(), start + 10s);
  fdb.expire(start + 11s);
  EXPECT_EQ(fdb.size(), 0u);
  EXPECT_EQ(fdb.deadline(), never);
  EXPECT_EQ(fdb.learn(mac(9), 0, start + 11s), LearnResult::updated);
}

TEST(Fdb, StaticEntriesStayAndNeverMove) {
  Fdb fdb(2, 10s, 1);
  fdb.learn(mac(1), 5, start);
  fdb.learn(mac(2), 5, start);
  fdb.add_static(mac(1), 7);
  fdb.add_static(mac(3), 8);
  EXPECT_EQ(fdb.find(mac(3), start), 8) << "what strangers taught must not keep it out";
  EXPECT_EQ(fdb.learn(mac(1), 5, start), LearnResult::known);
  fdb.forget(7);
  fdb.expire(start + 1000s);
  EXPECT_EQ(fdb.find(mac(1), start + 1000s), 7);
  EXPECT_EQ(fdb.rows(start + 1000s).size(), 2u);
  fdb.clear_static();
  EXPECT_EQ(fdb.size(), 0u);
}

TEST(Fdb, LearnsAsManyAsItMayBesideStaticEntries) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fdb fdb(16, 10s, seed);
    for (unsigned i = 0; i < 48; ++i) {
      fdb.add_static(mac(i), 1);
    }
    for (unsigned i = 100; i < 116; ++i) {
      EXPECT_EQ(fdb.learn(mac(i), 2, start), LearnResult::updated) << i;
    }
    EXPECT_EQ(fdb.learn(mac(200), 2, start), LearnResult::full);
    fdb.add_static(mac(100), 1);
    EXPECT_EQ(fdb.learn(mac(200), 2, start), LearnResult::updated) << "it is no learned one now";
    fdb.clear_static();
    EXPECT_EQ(fdb.size(), 16u);
  }
}

TEST(Fdb, HoldsEveryStaticEntryWhateverItsCapacity) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fdb fdb(16, 10s, seed);
    fdb.learn(mac(5000), 9, start);
    for (unsigned i = 0; i < 1000; ++i) {
      fdb.add_static(mac(i), static_cast<PortIndex>(i % 7));
    }
    EXPECT_EQ(fdb.size(), 1001u);
    EXPECT_EQ(fdb.find(mac(5000), start), 9);
    for (unsigned i = 0; i < 1000; ++i) {
      ASSERT_EQ(fdb.find(mac(i), start), i % 7);
    }
  }
}

TEST(Fdb, ForgetsWhatIsBehindAPort) {
  Fdb fdb(8, 10s, 1);
  fdb.learn(mac(1), 5, start);
  fdb.learn(mac(2), 6, start);
  fdb.forget(5);
  EXPECT_EQ(fdb.find(mac(1), start), no_port);
  EXPECT_EQ(fdb.find(mac(2), start), 6);
}

TEST(Fdb, LearnsNothingBehindAPortThatDoesNotLearn) {
  Fdb fdb(8, 10s, 1);
  fdb.set_learning(std::vector<LearningConfig>{{}, {false, {}}});
  fdb.learn(mac(1), 0, start);
  EXPECT_EQ(fdb.learn(mac(1), 1, start), LearnResult::known) << "the frame goes on";
  EXPECT_EQ(fdb.find(mac(1), start), 0);
  EXPECT_EQ(fdb.learn(mac(2), 1, start), LearnResult::known);
  EXPECT_EQ(fdb.find(mac(2), start), no_port);
  EXPECT_EQ(fdb.addresses(1).refused, 0u);
}

TEST(Fdb, RefusesOneAddressMoreThanAPortMayHave) {
  Fdb fdb(8, 10s, 1);
  fdb.set_learning(std::vector<LearningConfig>{{}, {true, 1}});
  fdb.learn(mac(1), 0, start);
  fdb.add_static(mac(3), 0);
  EXPECT_EQ(fdb.learn(mac(2), 1, start), LearnResult::updated);
  EXPECT_EQ(fdb.learn(mac(2), 1, start), LearnResult::known);
  EXPECT_EQ(fdb.learn(mac(1), 1, start), LearnResult::refused) << "another port's";
  EXPECT_EQ(fdb.learn(mac(3), 1, start), LearnResult::refused) << "a static entry's";
  EXPECT_EQ(fdb.learn(mac(4), 1, start), LearnResult::refused) << "one more";
  EXPECT_EQ(fdb.find(mac(1), start), 0);
  EXPECT_EQ(fdb.find(mac(2), start), 1);
  EXPECT_EQ(fdb.find(mac(4), start), no_port);
  EXPECT_EQ(fdb.addresses(1).learned, 1u);
  EXPECT_EQ(fdb.addresses(1).refused, 3u);
}

TEST(Fdb, HasRoomBehindAPortWhenAnAddressHasGone) {
  Fdb fdb(8, 10s, 1);
  const std::vector<LearningConfig> one{{}, {true, 1}};
  fdb.set_learning(one);
  fdb.learn(mac(1), 1, start);
  fdb.expire(start + 11s);
  EXPECT_EQ(fdb.learn(mac(2), 1, start + 11s), LearnResult::updated) << "the first has aged";
  fdb.learn(mac(2), 0, start + 11s);
  EXPECT_EQ(fdb.learn(mac(3), 1, start + 11s), LearnResult::updated) << "the second has moved";
  fdb.forget(1);
  EXPECT_EQ(fdb.learn(mac(4), 1, start + 11s), LearnResult::updated) << "the link was down";
  fdb.add_static(mac(4), 1);
  EXPECT_EQ(fdb.learn(mac(5), 1, start + 11s), LearnResult::updated) << "the fourth is static now";
  EXPECT_EQ(fdb.addresses(1).learned, 1u);
}

TEST(Fdb, ForgetsWhatAPortMayNoLongerHave) {
  Fdb fdb(8, 10s, 1);
  for (unsigned i = 0; i < 3; ++i) {
    fdb.learn(mac(i), 1, start);
  }
  fdb.set_learning(std::vector<LearningConfig>{{}, {true, 3}});
  EXPECT_EQ(fdb.addresses(1).learned, 3u);
  fdb.set_learning(std::vector<LearningConfig>{{}, {true, 2}});
  EXPECT_EQ(fdb.size(), 0u);
  fdb.learn(mac(1), 1, start);
  fdb.set_learning(std::vector<LearningConfig>{{}, {false, {}}});
  EXPECT_EQ(fdb.find(mac(1), start), no_port);
}

TEST(Fdb, KnowsAnAddressInEachVlan) {
  Fdb fdb(8, 10s, 1);
  EXPECT_EQ(fdb.learn({mac(1), 10}, 3, start), LearnResult::updated);
  EXPECT_EQ(fdb.learn({mac(1), 4094}, 4, start), LearnResult::updated);
  EXPECT_EQ(fdb.find({mac(1), 10}, start), 3);
  EXPECT_EQ(fdb.find({mac(1), 4094}, start), 4);
  EXPECT_EQ(fdb.find({mac(1), 11}, start), no_port);
  EXPECT_EQ(fdb.find(mac(1), start), no_port);
  for (const auto& row : fdb.rows(start)) {
    EXPECT_EQ(row.mac, mac(1));
    EXPECT_EQ(row.port, row.vid == 10 ? 3 : 4);
  }
}

TEST(Fdb, HasRoomBehindAPortAsSoonAsAnAddressHasAged) {
  Fdb fdb(8, 10s, 1);
  fdb.set_learning(std::vector<LearningConfig>{{}, {true, 1}});
  fdb.learn(mac(9), 0, start);
  fdb.learn(mac(1), 1, start + 1s);
  fdb.learn(mac(9), 0, start + 9s);
  fdb.expire(start + 10s + 1ns);
  EXPECT_EQ(fdb.deadline(), start + 12500ms + 1ns);
  EXPECT_EQ(fdb.learn(mac(2), 1, start + 11500ms), LearnResult::refused);
  EXPECT_EQ(fdb.deadline(), start + 11500ms) << "the first address has aged";
  fdb.expire(start + 11500ms);
  EXPECT_EQ(fdb.learn(mac(2), 1, start + 11500ms), LearnResult::updated);
  EXPECT_EQ(fdb.learn(mac(3), 1, start + 11600ms), LearnResult::refused);
  EXPECT_EQ(fdb.deadline(), start + 14s) << "the next sweep: this one is young";
  fdb.expire(start + 14s);
  EXPECT_EQ(fdb.learn(mac(3), 1, start + 14s), LearnResult::refused);
  EXPECT_EQ(fdb.deadline(), start + 16500ms);
}

TEST(Fdb, AStaticEntryOfVlanZeroHoldsInAll) {
  Fdb fdb(8, 10s, 1);
  fdb.add_static(mac(1), 3);
  fdb.add_static({mac(2), 10}, 3);
  EXPECT_EQ(fdb.find({mac(1), 10}, start), 3);
  EXPECT_EQ(fdb.find({mac(2), 11}, start), no_port);
  EXPECT_EQ(fdb.learn({mac(1), 10}, 4, start), LearnResult::known);
  EXPECT_EQ(fdb.find({mac(1), 10}, start), 3);
  EXPECT_EQ(fdb.learn({mac(2), 11}, 4, start), LearnResult::updated);
  fdb.set_learning(std::vector<LearningConfig>{{}, {}, {}, {}, {true, 1}});
  EXPECT_EQ(fdb.learn({mac(1), 12}, 4, start), LearnResult::refused);
}

TEST(Fdb, ForgetsWhatIsTold) {
  Fdb fdb(8, 10s, 1);
  fdb.set_learning(std::vector<LearningConfig>{{}, {}, {}, {}});
  fdb.learn({mac(1), 10}, 3, start);
  fdb.learn({mac(1), 20}, 3, start);
  fdb.add_static({mac(2), 10}, 3);
  fdb.forget_if([](std::uint16_t vid, PortIndex port) { return vid == 10 && port == 3; });
  EXPECT_EQ(fdb.find({mac(1), 10}, start), no_port);
  EXPECT_EQ(fdb.find({mac(1), 20}, start), 3);
  EXPECT_EQ(fdb.find({mac(2), 10}, start), 3);
  EXPECT_EQ(fdb.addresses(3).learned, 1u);
}

TEST(Fdb, HoldsNearlyItsCapacityWhateverTheSeed) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Fdb fdb(8192, 10s, seed);
    for (unsigned i = 0; i < 8192; ++i) {
      fdb.learn(mac(i), static_cast<PortIndex>(i % 7), start);
    }
    EXPECT_GT(fdb.size(), 8192u * 97 / 100);
    for (const auto& row : fdb.rows(start)) {
      const auto number = unsigned{row.mac.octets[4]} << 8 | row.mac.octets[5];
      ASSERT_EQ(row.port, number % 7);
      ASSERT_EQ(fdb.find(row.mac, start), row.port);
    }
  }
}

}  // namespace
}  // namespace tributary::forwarding
