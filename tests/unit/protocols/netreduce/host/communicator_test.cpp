// SPDX-License-Identifier: BSD-3-Clause
#include "host/communicator.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/netreduce/carrier/carrier.h"
#include "unit/host/loopback.h"
#include "unit/host/ports.h"

// These tests use real sockets of the loopback interface, where there is no switch.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

CommunicatorOptions options_of(std::uint32_t rank, std::uint32_t world_size, std::uint16_t port) {
  auto options = options_on_loopback(rank, world_size, port);
  options.local_address =
      "127.77." + std::to_string(process_number()) + "." + std::to_string(rank + 1);
  options.algorithm = "netreduce";
  options.set("netreduce_ring", "9");
  return options;
}

using Change = std::function<void(CommunicatorOptions&)>;

void run_world(std::uint32_t world_size, const std::function<void(Result<Communicator>)>& body,
               const Change& change = {}) {
  const auto port = next_ports();
  run_ranks(world_size, [=, &body, &change](std::uint32_t rank) {
    auto options = options_of(rank, world_size, port);
    if (change) {
      change(options);
    }
    body(Communicator::create(options));
  });
}

// Packets go from rank to rank, and each rank sees that they are unchanged, with their ICRC and
// their order.
TEST(NetReduceCommunicator, WithoutASwitchThatAddsTheRingIsUsedAndOneLineSaysSo) {
  std::mutex mutex;
  std::vector<std::string> lines;
  run_world(
      3,
      [](Result<Communicator> communicator) {
        ASSERT_TRUE(communicator) << communicator.error().message;
        EXPECT_EQ(communicator->algorithm(), "ring");
        std::vector<std::int32_t> values(5000, 2);
        const auto done = communicator->allreduce(std::span(values));
        ASSERT_TRUE(done) << done.error().message;
        EXPECT_EQ(values, std::vector<std::int32_t>(5000, 6));
        const auto told = communicator->statistics();
        EXPECT_EQ(told["collectives_by_ring"], 1u);
        EXPECT_EQ(told["ring"], 9u);
        EXPECT_GT(told["packets_received"], 0u);
        EXPECT_EQ(told["ignored_icrc"], 0u);
        EXPECT_EQ(told["ignored_foreign"], 0u);
      },
      [&](CommunicatorOptions& options) {
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          lines.push_back(line);
        };
      });
  ASSERT_EQ(lines.size(), 3u);
  for (const auto& line : lines) {
    EXPECT_NE(line.find("ring 9 of NetReduce does not answer"), std::string::npos) << line;
    EXPECT_NE(line.find("[[switch.netreduce.ring]]"), std::string::npos) << line;
  }
}

// Sketches are allreduces, of which the ring of Reliable Connections carries all.
TEST(NetReduceCommunicator, TheLastLineCountsSketchesThatItsRingCarried) {
  std::mutex mutex;
  std::string said;
  run_world(
      2,
      [](Result<Communicator> communicator) {
        ASSERT_TRUE(communicator) << communicator.error().message;
        std::vector<float> values(100, 0.5f);
        GradientSketch sketch(values.size());
        const auto done = communicator->sketched_allreduce(std::span(values), sketch);
        ASSERT_TRUE(done) << done.error().message;
      },
      [&](CommunicatorOptions& options) {
        options.algorithm = "roce-ring";
        options.set("log", "info");
        options.on_notice = [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          said += line + '\n';
        };
      });
  EXPECT_NE(said.find("1 collective by roce-ring over ring 9"), std::string::npos) << said;
  EXPECT_NE(said.find("0 collectives by the ring of the hosts"), std::string::npos) << said;
}

TEST(NetReduceCommunicator, FallbackCanBeAnError) {
  run_world(
      2,
      [](const Result<Communicator>& communicator) {
        ASSERT_FALSE(communicator);
        const auto& said = communicator.error().message;
        EXPECT_NE(said.find("ring 9 of NetReduce does not answer"), std::string::npos) << said;
      },
      [](CommunicatorOptions& options) { options.fallback = Fallback::error; });
}

// An MTU of 700 has room for 512 bytes of payload, and no more of the path MTUs of RDMA.
TEST(NetReduceCommunicator, TheSmallestMtuOfAllRanksCounts) {
  std::atomic<std::uint16_t> mtu = 700;
  run_world(
      2,
      [](const Result<Communicator>& communicator) {
        ASSERT_TRUE(communicator) << communicator.error().message;
        EXPECT_EQ(communicator->payload_bytes_max(), 512u);
      },
      [&](CommunicatorOptions& options) { options.mtu = mtu.exchange(1500); });
}

TEST(NetReduceCommunicator, OneRankNeedsNothing) {
  const auto communicator = Communicator::create(options_of(0, 1, next_ports()));
  ASSERT_TRUE(communicator) << communicator.error().message;
}

TEST(NetReduceCommunicator, RanksThatDifferAreRefused) {
  std::atomic<std::uint16_t> message = 100;
  run_world(
      2,
      [](const Result<Communicator>& communicator) {
        ASSERT_FALSE(communicator);
        EXPECT_NE(communicator.error().message.find("TRIBUTARY_NETREDUCE_MESSAGE 10"),
                  std::string::npos)
            << communicator.error().message;
      },
      [&](CommunicatorOptions& options) {
        options.set("netreduce_message", std::to_string(message++));
      });
}

// The rank that comes second says so to the first.
TEST(NetReduceCommunicator, OneAddressHasOneEndpoint) {
  std::atomic<int> refused = 0;
  run_world(
      2,
      [&](const Result<Communicator>& communicator) {
        ASSERT_FALSE(communicator);
        refused += communicator.error().message.find("another job's software endpoint") !=
                           std::string::npos
                       ? 1
                       : 0;
      },
      [](CommunicatorOptions& options) {
        options.local_address = "127.77." + std::to_string(process_number()) + ".1";
        options.deadline = 1s;
      });
  EXPECT_EQ(refused, 2);
}

TEST(NetReduceCommunicator, TheNoticeOfAMixedRingSaysThatSumsAreNotCertain) {
  const auto notice = [](bool mixed) {
    Observation seen;
    seen.ranks = 2;
    const auto options = options_of(0, 2, 33000);
    const auto choice = choose_netreduce(options, netreduce_options_of(options), 7, seen, mixed);
    return choice ? choice->notice : choice.error().message;
  };
  EXPECT_NE(notice(true).find("sums are not certain"), std::string::npos) << notice(true);
  EXPECT_EQ(notice(false).find("certain"), std::string::npos) << notice(false);
}

TEST(NetReduceCommunicator, RefusesWhatCannotBe) {
  const auto expect = [](const Change& change, const std::string& words) {
    auto options = options_of(0, 2, 33000);
    change(options);
    const auto created = Communicator::create(options);
    ASSERT_FALSE(created);
    EXPECT_NE(created.error().message.find(words), std::string::npos) << created.error().message;
  };
  expect([](auto& options) { options.parameters.erase("netreduce_ring"); },
         "TRIBUTARY_NETREDUCE_RING");
  expect([](auto& options) { options.set("netreduce_mtu", "1000"); }, "no path MTU");
  expect([](auto& options) { options.set("netreduce_window", "65"); }, "from 1 to 64");
  expect([](auto& options) { options.set("netreduce_message", "8193"); }, "from 1 to 8192");
  expect(
      [](auto& options) {
        options.set("netreduce_message", "8192");
        options.set("netreduce_window", "3");
      },
      "more than 65536");
  expect(
      [](auto& options) {
        options.world_size = 65;
        options.set("netreduce_message", "1");
      },
      "at most 64 ranks");
  expect([](auto& options) { options.encapsulation = wire::Encapsulation::ethernet; }, "UDP only");
  expect([](auto& options) { options.mtu = 319; }, "needs an MTU of 320");
  const auto share_an_address = [](auto& options) {
    options.local_address.clear();
    options.local_world_size = 2;
  };
  expect(share_an_address, "the 2 ranks of this machine (LOCAL_WORLD_SIZE) cannot share");
  expect(
      [&](auto& options) {
        share_an_address(options);
        options.algorithm = "roce-ring";
        options.set("rdma_device", "not for that");
      },
      "over roce-ring");
}

}  // namespace
}  // namespace tributary::host::test
