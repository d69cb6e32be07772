// SPDX-License-Identifier: BSD-3-Clause
#include "support/switch_bench.h"

namespace tributary::test {
namespace {

switching::SwitchConfig three_bridged_ports() {
  switching::SwitchConfig config;
  config.name = "bridge";
  config.id = 1;
  config.ports = {bridged_port("a", 0), bridged_port("b", 1), bridged_port("c", 2)};
  return config;
}

Endpoints between(std::uint8_t from, std::uint8_t to) {
  return {mac(from), mac(to), Ip(10, 0, 0, from), Ip(10, 0, 0, to)};
}

TEST(Bridge, FloodsUnknownThenForwardsLearned) {
  SwitchBench bench(three_bridged_ports());
  const auto flooded = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(flooded.size(), 2u);
  EXPECT_EQ(flooded[0]->egress, 1);
  EXPECT_EQ(flooded[1]->egress, 2);
  EXPECT_EQ(bench.ledger().forwarded, 1u);
  EXPECT_EQ(bench.ledger().sent, 1u);

  const auto answer = bench.send(2, make_udp(bench.pool, between(2, 1), 6, 5));
  ASSERT_EQ(answer.size(), 1u);
  EXPECT_EQ(answer[0]->egress, 0);
  const auto learned = bench.send(0, make_udp(bench.pool, between(1, 2), 5, 6));
  ASSERT_EQ(learned.size(), 1u);
  EXPECT_EQ(learned[0]->egress, 2);
}

}  // namespace
}  // namespace tributary::test
