// SPDX-License-Identifier: BSD-3-Clause
// A protocol is a folder and a row: nothing but those of `echo` knows it, and a switch has it all
// the same.
#include "echo/echo.h"

#include <algorithm>
#include <cstring>

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "protocols/engines.h"
#include "support/frames.h"
#include "support/switch_bench.h"
#include "traffic/kind.h"

namespace tributary::test {
namespace {

control::Loaded configured(const std::string& section) {
  return control::parse_config(
      "version = 1\n[[switch]]\nname = \"s\"\nid = 1\n" + section +
          "[[switch.port]]\nname = \"a\"\ninterface = \"veth0\"\naddress = \"10.0.0.1/24\"\n",
      "echo.toml");
}

switching::SwitchConfig with_echo(std::uint32_t added) {
  switching::SwitchConfig config;
  config.ports.push_back(routed_port("a", 0, Ip(10, 0, 0, 1)));
  config.protocols.emplace<echo::EchoConfig>().added = added;
  return config;
}

PacketPtr question(PacketPool& pool, std::uint32_t number, std::size_t bytes = 4) {
  const Endpoints ends{mac(9), mac(0, 0xee), Ip(10, 0, 0, 9), Ip(10, 0, 0, 1)};
  auto packet = make_udp(pool, ends, 1234, echo::udp_port, bytes);
  if (bytes >= sizeof(echo::EchoHeader)) {
    const echo::EchoHeader header{wire::be32{number}};
    std::memcpy(l4_of(*packet).data() + sizeof(wire::UdpHeader), &header, sizeof header);
  }
  return packet;
}

TEST(Echo, ASwitchAddsAndSendsBack) {
  SwitchBench bench(with_echo(5));
  const auto out = bench.send(0, question(bench.pool, 37));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(ip_of(*out[0]).destination, Ip(10, 0, 0, 9));
  echo::EchoHeader header;
  std::memcpy(&header, l4_of(*out[0]).data() + sizeof(wire::UdpHeader), sizeof header);
  EXPECT_EQ(header.number.value(), 42u);
}

TEST(Echo, ItsFiguresAndDropsAreCounted) {
  SwitchBench bench(with_echo(1));
  bench.send(0, question(bench.pool, 1));
  bench.send(0, question(bench.pool, 1, 2));
  EXPECT_EQ(bench.drops(echo::drop::truncated), 1u);
  EXPECT_EQ(protocols::name(echo::drop::truncated), "echo_truncated");
  const auto engines = bench.device().engines();
  ASSERT_EQ(engines.size(), 1u);
  EXPECT_EQ(engines[0].name, "echo");
  EXPECT_EQ(engines[0].engine->figures()[0].value, 1u);
}

TEST(Echo, IsConfiguredAndReconfigured) {
  const auto off = configured("");
  const auto one = configured("[switch.echo]\n");
  const auto two = configured("[switch.echo]\nadded = 2\n");
  ASSERT_TRUE(off && one && two);
  EXPECT_EQ(two->switches[0].config.protocols.get<echo::EchoConfig>().added, 2u);
  EXPECT_TRUE(control::needs_restart(control::diff(*off, *one)));
  const auto changes = control::diff(*one, *two);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(to_string(changes[0]), "~ switch s echo added: 1 -> 2");
  const auto wrong = configured("[switch.echo]\nadded = 0\n");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(to_string(wrong.error()), testing::HasSubstr("from 1 to 1000"));
}

// The generator's side, against a switch.
TEST(Echo, IsTrafficThatTheGeneratorPlays) {
  auto kinds = traffic::traffic_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [](const auto& each) {
    return each->name() == std::string_view("echo");
  });
  ASSERT_NE(kind, kinds.end());
  CLI::App app;
  (*kind)->declare(app, traffic::Mode::run);
  app.parse("--switch 10.0.0.1");
  traffic::Conditions conditions;
  (*kind)->interpret(conditions);
  SwitchBench bench(with_echo(1));
  const traffic::Stations stations(
      {{.mac = mac(9), .address = Ip(10, 0, 0, 9), .gateway_mac = mac(0, 0xee)}});
  traffic::Neighbours neighbours(stations, bench.pool);
  const auto traffic = (*kind)->make(stations, neighbours, bench.pool);
  traffic::Pacer pacer;
  pacer.start({}, Time{});
  traffic::Outbox out(1);
  traffic->send(5, bench.now, pacer, out);
  PacketList answers;
  while (auto question = out[0].pop()) {
    for (auto& answer : bench.send(0, std::move(question))) {
      answers.push(std::move(answer));
    }
  }
  traffic->receive(std::move(answers), 0, bench.now, out);
  EXPECT_EQ(traffic->counters().done, 5u);
  EXPECT_EQ(traffic->wrong(), 0u);
}

}  // namespace
}  // namespace tributary::test
