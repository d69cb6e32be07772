// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/neighbour_table.h"

#include <gtest/gtest.h>

#include "packet/pool.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;
using Ip = wire::Ipv4Address;
using ArpTable = NeighbourTable<wire::Ipv4Address>;
using Wait = ArpTable::Wait;

const Ip neighbour(10, 0, 0, 7);
const wire::MacAddress mac_a{{2, 0, 0, 0, 0, 1}};
const wire::MacAddress mac_b{{2, 0, 0, 0, 0, 2}};

class ArpTableTest : public testing::Test {
 protected:
  Wait wait(ArpTable& table, Ip address, Time now) {
    auto packet = pool_.allocate();
    return table.wait(packet, address, 3, now);
  }
  std::size_t release(ArpTable& table) {
    std::size_t released = 0;
    table.release([&](PacketList packets, const wire::MacAddress&, PortIndex) {
      released += packets.size();
    });
    return released;
  }
  ~ArpTableTest() override { EXPECT_EQ(pool_.outstanding(), 0u); }

  HeapPacketPool pool_{64, 128};
};

TEST_F(ArpTableTest, ResolvesAndReleasesInOrderOfWaiting) {
  ArpTable table(600s, 1);
  EXPECT_EQ(table.find(neighbour, start).mac, nullptr);
  EXPECT_EQ(wait(table, neighbour, start), Wait::asked);
  EXPECT_EQ(wait(table, neighbour, start), Wait::waiting);
  EXPECT_TRUE(table.learn(neighbour, mac_a, 3, true, start + 1ms));
  EXPECT_TRUE(table.has_released());
  EXPECT_EQ(release(table), 2u);
  EXPECT_FALSE(table.has_released());
  ASSERT_NE(table.find(neighbour, start + 1ms).mac, nullptr);
  EXPECT_EQ(*table.find(neighbour, start + 1ms).mac, mac_a);
}

TEST_F(ArpTableTest, RepeatsTheQuestionThenGivesUp) {
  ArpTable table(600s, 1);
  wait(table, neighbour, start);
  std::vector<Question<wire::Ipv4Address>> questions;
  PacketList unresolved;
  auto now = start;
  for (int repeat = 0; repeat < 4; ++repeat) {
    EXPECT_EQ(table.deadline(), now + 200ms);
    now = table.deadline();
    table.expire(now - 1ns, questions, unresolved);
    EXPECT_EQ(questions.size(), static_cast<std::size_t>(repeat));
    table.expire(now, questions, unresolved);
    EXPECT_EQ(questions.size(), static_cast<std::size_t>(repeat) + 1);
  }
  EXPECT_TRUE(unresolved.empty());
  table.expire(now + 200ms, questions, unresolved);
  EXPECT_EQ(unresolved.size(), 1u);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.deadline(), never);
}

TEST_F(ArpTableTest, BoundsWhatWaits) {
  ArpTable::Limits limits;
  limits.waiting_per_entry = 2;
  limits.waiting = 3;
  ArpTable table(600s, 1, limits);
  EXPECT_EQ(wait(table, neighbour, start), Wait::asked);
  EXPECT_EQ(wait(table, neighbour, start), Wait::waiting);
  EXPECT_EQ(wait(table, neighbour, start), Wait::full);
  EXPECT_EQ(wait(table, Ip(10, 0, 0, 8), start), Wait::asked);
  EXPECT_EQ(wait(table, Ip(10, 0, 0, 9), start), Wait::asked_full);
  EXPECT_EQ(wait(table, Ip(10, 0, 0, 9), start), Wait::full);
  table.learn(neighbour, mac_a, 3, true, start);
  EXPECT_EQ(release(table), 2u);
  EXPECT_EQ(wait(table, Ip(10, 0, 0, 9), start), Wait::waiting);
}

TEST_F(ArpTableTest, AScanLeavesRoomForWhoIsKept) {
  ArpTable::Limits limits;
  limits.entries = 16;
  ArpTable table(600s, 1, limits);
  table.keep({neighbour});
  for (std::uint8_t host = 1; host <= 40; ++host) {
    wait(table, Ip(10, 0, 1, host), start);
  }
  EXPECT_EQ(wait(table, neighbour, start), Wait::asked);
}

TEST_F(ArpTableTest, AScanLeavesRoomForNeighboursThatTalk) {
  ArpTable::Limits limits;
  limits.entries = 16;
  ArpTable table(600s, 1, limits);
  for (std::uint8_t host = 1; host <= 40; ++host) {
    wait(table, Ip(10, 0, 1, host), start);
  }
  EXPECT_EQ(table.size(), 8u);
  EXPECT_TRUE(table.learn(neighbour, mac_a, 3, true, start));
}

// One host can claim all addresses of a prefix.
class InventedNeighbours : public ArpTableTest {
 protected:
  static constexpr PortIndex link = 3;
  static constexpr PortIndex other_link = 4;

  void invent(std::uint32_t count) {
    for (; count > 0; --count, ++invented_, now_ += 1ms) {
      table_.learn(Ip((11u << 24) + invented_), mac_b, link, true, now_);
    }
  }
  bool is_known(Ip address) { return table_.find(address, now_).mac != nullptr; }

  ArpTable table_{600s, 1, {.entries = 64}};
  std::uint32_t invented_ = 0;
  Time now_ = start;
};

TEST_F(InventedNeighbours, KeepNobodyOutOfAFullTable) {
  invent(1000);
  EXPECT_EQ(table_.size(), 64u);
  EXPECT_TRUE(table_.learn(neighbour, mac_a, link, true, now_));
  EXPECT_TRUE(is_known(neighbour));
  EXPECT_EQ(wait(table_, Ip(10, 0, 0, 8), now_), Wait::asked);
  EXPECT_EQ(table_.size(), 64u);
  table_.learn(Ip(10, 0, 0, 8), mac_a, link, true, now_);
  EXPECT_EQ(release(table_), 1u);
}

TEST_F(InventedNeighbours, TakeTheRoomOfTheirOwnLink) {
  const Ip there(10, 0, 4, 1);
  table_.learn(there, mac_a, other_link, true, now_);
  now_ += 1s;
  invent(2000);
  EXPECT_TRUE(is_known(there));
}

TEST_F(InventedNeighbours, PushOutNeitherGatewaysNorStaticEntriesNorWhatWaits) {
  const Ip gateway(10, 0, 0, 1);
  const Ip fixed(10, 0, 0, 2);
  const Ip asked(10, 0, 0, 3);
  table_.keep({gateway});
  table_.learn(gateway, mac_a, link, true, now_);
  table_.add_static(fixed, mac_a, link);
  wait(table_, asked, now_);
  now_ += 10ms;
  invent(2000);
  EXPECT_TRUE(is_known(gateway));
  EXPECT_TRUE(is_known(fixed));
  table_.learn(asked, mac_a, link, true, now_);
  EXPECT_EQ(release(table_), 1u);
}

TEST_F(InventedNeighbours, PushOutWhoWasHeardOfLongestAgo) {
  ArpTable small(600s, 1, {.entries = 8});  // so that all are looked at
  for (std::uint8_t host = 1; host <= 8; ++host) {
    small.learn(Ip(10, 0, 0, host), mac_a, link, true, start + host * 1s);
  }
  small.learn(Ip(10, 0, 0, 1), mac_a, link, true, start + 20s);
  small.learn(Ip(10, 0, 0, 9), mac_a, link, true, start + 21s);
  EXPECT_EQ(small.find(Ip(10, 0, 0, 2), start + 21s).mac, nullptr);
  EXPECT_NE(small.find(Ip(10, 0, 0, 1), start + 21s).mac, nullptr);
}

TEST_F(ArpTableTest, AsksAgainBeforeTheTimeoutAndForgetsAfterIt) {
  ArpTable table(600s, 1);
  table.learn(neighbour, mac_a, 3, true, start);
  EXPECT_FALSE(table.find(neighbour, start + 450s).ask);
  EXPECT_TRUE(table.find(neighbour, start + 451s).ask);
  EXPECT_FALSE(table.find(neighbour, start + 451s).ask) << "not with every packet";
  EXPECT_NE(table.find(neighbour, start + 600s).mac, nullptr);
  EXPECT_EQ(table.find(neighbour, start + 601s).mac, nullptr);
  EXPECT_EQ(wait(table, neighbour, start + 601s), Wait::asked);
}

TEST_F(ArpTableTest, IsSettledUntilThereIsSomethingToAsk) {
  ArpTable table(600s, 1);
  const auto settled = [&](const Ip& address, Time now) {
    return table.find_settled(table.prefetch(address), address, now);
  };
  EXPECT_EQ(settled(neighbour, start), nullptr);
  wait(table, neighbour, start);
  EXPECT_EQ(settled(neighbour, start), nullptr);
  table.learn(neighbour, mac_a, 3, true, start);
  release(table);
  ASSERT_NE(settled(neighbour, start + 450s), nullptr);
  EXPECT_EQ(*settled(neighbour, start + 450s), mac_a);
  EXPECT_EQ(settled(neighbour, start + 451s), nullptr);
  table.add_static(neighbour, mac_b, 3);
  ASSERT_NE(settled(neighbour, start + 9999s), nullptr);
  EXPECT_EQ(*settled(neighbour, start + 9999s), mac_b);
}

TEST_F(ArpTableTest, UnaskedNewsOnlyUpdatesWhatIsKnown) {
  ArpTable table(600s, 1);
  EXPECT_FALSE(table.learn(neighbour, mac_a, 3, false, start));
  EXPECT_EQ(table.size(), 0u);
  table.learn(neighbour, mac_a, 3, true, start);
  EXPECT_FALSE(table.learn(neighbour, mac_a, 3, false, start + 1s));
  EXPECT_TRUE(table.learn(neighbour, mac_b, 3, false, start + 1s));
  EXPECT_EQ(*table.find(neighbour, start + 1s).mac, mac_b);
}

TEST_F(ArpTableTest, StaticEntriesDoNotChangeAndReleaseAtOnce) {
  ArpTable table(600s, 1);
  wait(table, neighbour, start);
  table.add_static(neighbour, mac_a, 3);
  EXPECT_EQ(release(table), 1u);
  EXPECT_FALSE(table.learn(neighbour, mac_b, 3, true, start));
  EXPECT_EQ(*table.find(neighbour, start + 10000s).mac, mac_a);
  EXPECT_EQ(table.rows(start)[0].state, NeighbourState::fixed);
  table.clear_static();
  EXPECT_EQ(table.size(), 0u);
}

TEST_F(ArpTableTest, HoldsEveryStaticEntryWhateverItsCapacity) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    ArpTable table(600s, seed, {.entries = 16});
    wait(table, neighbour, start);
    for (std::uint32_t i = 0; i < 1000; ++i) {
      table.add_static(Ip((11u << 24) + i), mac_a, 3);
    }
    for (std::uint32_t i = 0; i < 1000; ++i) {
      ASSERT_NE(table.find(Ip((11u << 24) + i), start).mac, nullptr);
    }
    EXPECT_EQ(table.size(), 1001u);
    table.learn(neighbour, mac_b, 3, true, start);
    EXPECT_EQ(release(table), 1u) << "what waited when room was made";
  }
}

TEST_F(ArpTableTest, WithdrawnStaticEntryLosesNothingThatWaits) {
  ArpTable table(600s, 1);
  wait(table, neighbour, start);
  table.add_static(neighbour, mac_a, 3);
  table.clear_static();
  EXPECT_EQ(release(table), 0u);
  table.learn(neighbour, mac_b, 3, true, start);
  EXPECT_EQ(release(table), 1u);
}

}  // namespace
}  // namespace tributary::forwarding
