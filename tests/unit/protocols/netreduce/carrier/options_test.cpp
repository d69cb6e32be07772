// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/options.h"

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

TEST(NetReduceOptions, AreReadFromText) {
  CommunicatorOptions given;
  const auto usual = netreduce_options_of(given);
  EXPECT_FALSE(usual.ring);
  EXPECT_EQ(usual.window, 2u);
  EXPECT_EQ(usual.message_packets, 170u);
  EXPECT_EQ(usual.mtu, 1024u);
  EXPECT_EQ(usual.rdma_timeout, 0s);
  given.set("netreduce_ring", "0").set("netreduce_window", "4").set("netreduce_message", "40");
  given.set("netreduce_mtu", "4096").set("rdma_device", "rxe_eth0").set("rdma_timeout", "500ms");
  const auto read = netreduce_options_of(given);
  EXPECT_EQ(read.ring, 0u);
  EXPECT_EQ(read.window, 4u);
  EXPECT_EQ(read.message_packets, 40u);
  EXPECT_EQ(read.mtu, 4096u);
  EXPECT_EQ(read.rdma_device, "rxe_eth0");
  EXPECT_EQ(read.rdma_timeout, 500ms);
}

TEST(NetReduceOptions, TheRingOfTheHostsIsOfSoftware) {
  CommunicatorOptions given;
  given.set("rdma_device", "rxe_eth0").algorithm = roce_ring;
  const auto read = netreduce_options_of(given);
  EXPECT_TRUE(read.hosts_add);
  EXPECT_EQ(read.rdma_device, "");
}

}  // namespace
}  // namespace tributary::host::test
