// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/ranks.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace tributary::traffic {
namespace {

using test::Ip;
using test::mac;

// Two ports with stations of 10.0.0.1 and 10.0.1.1 on.
const Stations two_ports({{mac(1, 0), Ip(10, 0, 0, 1), 4}, {mac(1, 1), Ip(10, 0, 1, 1), 4}});

TEST(Ranks, TakeTurnsBehindThePorts) {
  const Ranks ranks(two_ports, 5);
  ASSERT_EQ(ranks.count(), 5u);
  EXPECT_EQ(ranks[0].address, Ip(10, 0, 0, 1));
  EXPECT_EQ(ranks[1].address, Ip(10, 0, 1, 1));
  EXPECT_EQ(ranks[3].address, Ip(10, 0, 1, 2));
  EXPECT_EQ(ranks[4].port, 0u);
  EXPECT_EQ(ranks[4].mac, mac(3, 0));
}

TEST(Ranks, AreFoundByTheirAddressBehindTheirPort) {
  const Ranks ranks(two_ports, 5);
  for (std::uint32_t rank = 0; rank < ranks.count(); ++rank) {
    EXPECT_EQ(ranks.find(ranks[rank].port, ranks[rank].address), rank);
    EXPECT_EQ(ranks.find(1 - ranks[rank].port, ranks[rank].address), ranks.count());
  }
  EXPECT_EQ(ranks.find(1, Ip(10, 0, 1, 3)), ranks.count()) << "a station that is no rank";
  EXPECT_EQ(ranks.find(0, Ip(10, 0, 0, 0)), ranks.count());
}

TEST(Ranks, HaveTagsOfWhichTheSumIsThatOfTheFirst) {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(total_tag(77, rank), sum);
    sum += rank_tag(77, rank);
  }
  EXPECT_NE(total_tag(77, 8), total_tag(78, 8)) << "of another block";
}

}  // namespace
}  // namespace tributary::traffic
