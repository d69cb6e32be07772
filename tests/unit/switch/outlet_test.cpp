// SPDX-License-Identifier: BSD-3-Clause
#include "switch/outlet.h"

#include <chrono>
#include <utility>

#include "unit/switch/two_networks.h"

namespace tributary::test {
namespace {

switching::SwitchConfig two_network_router() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.address = Ip(10, 1, 255, 1);
  config.ports = {routed_port("a", 0, own_a), routed_port("b", 1, own_b)};
  return config;
}

TEST(Outlet, CountsDropsByThePortThatTheFramesCameInBy) {
  SwitchBench bench(two_network_router());
  auto nowhere = a_to_b;
  nowhere.destination = Ip(192, 0, 2, 1);
  for (int i = 0; i < 3; ++i) {
    bench.send(0, make_udp(bench.pool, nowhere, 5, 6));
  }
  EXPECT_EQ(bench.drops(DropReason::no_route), 3u);
  auto other = make_udp(bench.pool, a_to_b, 5, 6);  // for the MAC address of port a
  bench.send(1, std::move(other));
  EXPECT_EQ(bench.drops(DropReason::other_mac), 1u);
  EXPECT_EQ(bench.device().dropped_from(0), 3u);
  EXPECT_EQ(bench.device().dropped_from(1), 1u);
}

TEST(Outlet, CountsNoLossesOfWhatBeganHere) {
  SwitchBench bench(two_network_router());
  bench.send(0, make_udp(bench.pool, a_to_b, 5, 6));
  for (int i = 0; i < 20; ++i) {
    bench.advance(std::chrono::milliseconds(200));
  }
  EXPECT_EQ(bench.losses(DropReason::arp_unresolved), 2u) << "its sender is not known, either";
  EXPECT_EQ(bench.device().dropped_from(0), 0u);
}

}  // namespace
}  // namespace tributary::test
