// SPDX-License-Identifier: BSD-3-Clause
// A protocol is a folder and a row: nothing but those of `echo` knows it, and a switch has it all
// the same.
#include "echo/echo.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/config_diff.h"
#include "control/loader.h"
#include "host/communicator.h"
#include "support/drop_names.h"
#include "support/frames.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"
#include "support/traffic_kinds.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"

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
  EXPECT_EQ(name_of(echo::drop::truncated), "echo_truncated");
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

// Returns what becomes of a run of the generator with those options.
traffic::TrialResult generated(const std::string& options, std::uint32_t added) {
  Bench bench({{mac(9), Ip(10, 0, 0, 9), 1, mac(0, 0xee), {}}});
  SwitchNetwork network(with_echo(added), bench.pool, bench.now);
  auto conditions = conditions_of(traffic::Mode::run);
  const auto kind = traffic_kind("echo", conditions, options);
  const auto traffic = kind->make(bench.stations, bench.neighbours, bench.pool);
  return run_trial(bench, *traffic, std::ref(network), {traffic::Rate::Unit::packets, 100e3});
}

TEST(Echo, IsGeneratedAndChecked) {
  const auto result = generated("--added 5", 5);
  EXPECT_GE(result.counters.done, 1000u);
  EXPECT_EQ(result.counters.done, result.counters.begun);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GE(generated("--added 5", 6).wrong, 1000u);
}

// Runs each rank with a communicator of its own, and with that port.
void run_ranks_over_echo(const std::function<std::uint32_t(std::uint32_t rank)>& port_of,
                         const std::function<void(Result<Communicator>)>& body) {
  const auto place = host::test::next_ports();
  host::test::run_ranks(2, [&, place](std::uint32_t rank) {
    auto options = host::test::options_on_loopback(rank, 2, place);
    options.algorithm = "echo";
    options.set("echo_port", std::to_string(port_of(rank)));
    body(Communicator::create(options));
  });
}

TEST(Echo, RanksReduceOverIt) {
  const auto same = [](std::uint32_t) { return echo::udp_port; };
  run_ranks_over_echo(same, [](Result<Communicator> communicator) {
    ASSERT_TRUE(communicator) << communicator.error().message;
    EXPECT_EQ(communicator->algorithm(), "echo");
    std::vector<std::int32_t> values(100, static_cast<std::int32_t>(communicator->rank()) + 1);
    for (const auto sum : {3, 6}) {
      ASSERT_TRUE(communicator->allreduce(std::span(values)));
      EXPECT_EQ(values, std::vector<std::int32_t>(100, sum));
    }
    ASSERT_TRUE(communicator->barrier());
    const auto told = communicator->statistics();
    EXPECT_EQ(told["vectors_received"], 3u) << "with that by which the network was tried";
    EXPECT_EQ(told["collectives_by_echo"], 2u);
    EXPECT_EQ(told["collectives_by_ring"], 1u);
  });
}

TEST(Echo, RanksWithAnotherParameterAreRefused) {
  const auto port_of = [](std::uint32_t rank) { return echo::udp_port + rank; };
  run_ranks_over_echo(port_of, [](const Result<Communicator>& communicator) {
    ASSERT_FALSE(communicator);
    EXPECT_THAT(
        communicator.error().message,
        testing::HasSubstr("rank 1 was started with TRIBUTARY_ECHO_PORT 17901, rank 0 with 17900"));
  });
}

TEST(Echo, PlainFramesKeepOffItsPort) {
  auto conditions = conditions_of(traffic::Mode::run);
  EXPECT_THROW(traffic_kind("plain", conditions, "--destination-port 17900"), CLI::ValidationError);
}

}  // namespace
}  // namespace tributary::test
