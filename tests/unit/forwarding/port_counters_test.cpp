// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port_counters.h"

#include <set>

#include <gtest/gtest.h>

namespace tributary::forwarding {
namespace {

TEST(PortCounters, counts_of_queues_add_up_and_their_pauses_are_one) {
  PortCounters all;
  all.rx_packets = 3;
  all.impaired_delayed = 1;
  all.paused_ns = 7;
  PortCounters other;
  other.rx_packets = 4;
  other.impaired_delayed = 2;
  other.paused_ns = 5;
  all += other;
  EXPECT_EQ(all.rx_packets, 7u);
  EXPECT_EQ(all.impaired_delayed, 3u);
  EXPECT_EQ(all.paused_ns, 7u);
}

TEST(PortCounters, each_is_listed_once) {
  std::set<std::string_view> names;
  for (const auto& figure : port_figures) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
  }
  EXPECT_EQ(names.size() * sizeof(std::uint64_t), sizeof(PortCounters));
}

}  // namespace
}  // namespace tributary::forwarding
