// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/verbs_runner.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/netreduce/carrier/verbs/verbs_link.h"
#include "protocols/netreduce/host/flow_control.h"
#include "protocols/netreduce/wire.h"

// Tests one rank over a simulated link, behind which are another rank and the switch.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::int64_t>;

const NetReducePlan plan{.ring = 1, .window = 2, .message_packets = 3, .mtu = 256};

Job job_of(std::uint32_t rank) {
  Job job;
  job.rank = rank;
  job.key = {1, 2, 3};
  job.peers.resize(2);
  return job;
}

Call allreduce_between(const Numbers& in, Numbers& out) {
  return Call{Collective::allreduce,
              Buffers{reinterpret_cast<const std::byte*>(in.data()),
                      reinterpret_cast<std::byte*>(out.data()), in.size(), wire::ElementType::i64,
                      wire::Operator::sum},
              0};
}

struct Slots {
  std::vector<std::byte> sent = std::vector<std::byte>(plan.slots() * plan.message_bytes());
  std::vector<std::byte> received = sent;
  std::uint32_t posted = 0;  // messages

  static std::size_t offset_of(std::uint32_t message) {
    return std::size_t{message % plan.slots()} * plan.message_bytes();
  }
};

class OtherLink : public Link {
 public:
  explicit OtherLink(Slots& slots) : slots_(slots) {}
  wire::MutableBytes send_slot(std::uint32_t slot) override {
    return wire::MutableBytes(slots_.sent).subspan(Slots::offset_of(slot), plan.message_bytes());
  }
  wire::Bytes received_slot(std::uint32_t slot) override {
    return wire::Bytes(slots_.received).subspan(Slots::offset_of(slot), plan.message_bytes());
  }
  Result<void> post(std::uint32_t message, std::uint32_t) override {
    EXPECT_EQ(message, slots_.posted++);
    return {};
  }

 private:
  Slots& slots_;
};

// The network between the two ranks, which adds what both have posted.
struct Network {
  Slots mine;
  Slots others;
  OtherLink other_link{others};
  FlowControl other{job_of(1), plan, other_link};
  std::vector<std::uint32_t> lengths;  // of this rank's messages
  std::uint32_t summed = 0;
  bool acknowledges = true;
  std::uint32_t acknowledged = 0;
  std::uint32_t drops_from = ~0u;  // message
  std::optional<Error> fault;
  std::uint32_t at_once = ~0u;  // messages that arrive in one wait
  std::vector<Time> waits;      // until when
  NetReducePlan connected_for;

  // The header is that of the message's sender; all the rest are 64-bit integers.
  static void add(Slots& to, const Slots& from, std::uint32_t message, std::uint32_t bytes) {
    const auto at = Slots::offset_of(message);
    std::memcpy(to.received.data() + at, from.sent.data() + at, bytes);
    for (auto word = at + sizeof(wire::InaHeader); word < at + bytes; word += 8) {
      std::uint64_t left = 0;
      std::uint64_t right = 0;
      std::memcpy(&left, to.sent.data() + word, 8);
      std::memcpy(&right, from.sent.data() + word, 8);
      left += right;
      std::memcpy(to.received.data() + word, &left, 8);
    }
  }
};

class FakeLink final : public VerbsLink {
 public:
  explicit FakeLink(Network& network) : network_(network) {}

  wire::MutableBytes send_slot(std::uint32_t slot) override { return own_.send_slot(slot); }
  wire::Bytes received_slot(std::uint32_t slot) override { return own_.received_slot(slot); }
  Result<void> post(std::uint32_t message, std::uint32_t bytes) override {
    network_.lengths.push_back(bytes);
    return own_.post(message, bytes);
  }
  LinkEnd end() const override { return {}; }
  Result<void> connect(const NetReducePlan& planned, const LinkNeighbour&,
                       const LinkNeighbour&) override {
    network_.connected_for = planned;
    return {};
  }

  Result<std::span<const LinkEvent>> wait(Time until) override {
    network_.waits.push_back(until);
    events_.clear();
    if (network_.fault) {
      return tl::make_unexpected(*network_.fault);
    }
    auto& [mine, others, link, other, lengths, summed, acknowledges, acknowledged, drops_from,
           fault, at_once, waits, connected_for] = network_;
    const auto end = at_once < ~0u - summed ? summed + at_once : ~0u;
    while (summed < std::min({mine.posted, others.posted, drops_from, end})) {
      const auto bytes = lengths[summed];
      Network::add(mine, others, summed, bytes);
      Network::add(others, mine, summed, bytes);
      events_.push_back({LinkEvent::Kind::arrived, summed, bytes});
      EXPECT_TRUE(other.arrived(summed, bytes));
      EXPECT_TRUE(other.acknowledged(++summed));
    }
    while (acknowledges && acknowledged < summed) {
      events_.push_back({LinkEvent::Kind::acknowledged, acknowledged++, 0});
    }
    return std::span<const LinkEvent>(events_);
  }

 private:
  Network& network_;
  OtherLink own_{network_.mine};
  std::vector<LinkEvent> events_;
};

class VerbsRunnerTest : public testing::Test {
 protected:
  // The first call of a run.
  void meet() {
    ASSERT_TRUE(runner.begin_run(plan));
    const Call barrier{Collective::barrier, {}, 0};
    ASSERT_TRUE(network.other.begin(barrier));
    ASSERT_TRUE(runner.run(barrier, Clock::now() + 10s));
  }
  Result<void> reduce(std::size_t count, Deadline until = Clock::now() + 10s) {
    given.resize(count);
    std::iota(given.begin(), given.end(), 1);
    others_result = result = Numbers(count);
    EXPECT_TRUE(network.other.begin(allreduce_between(given, others_result)));
    return runner.run(allreduce_between(given, result), until);
  }

  Network network;
  VerbsRunner runner{job_of(0), {}, std::make_unique<FakeLink>(network)};
  Numbers given, result, others_result;
};

TEST_F(VerbsRunnerTest, RunsCollectivesOfMoreMessagesThanTheLinkHasSlots) {
  meet();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(reduce(1000));
    for (std::size_t i = 0; i < result.size(); ++i) {
      ASSERT_EQ(result[i], 2 * given[i]);
    }
    EXPECT_EQ(others_result, result);
  }
  EXPECT_FALSE(runner.retaining());
}

TEST_F(VerbsRunnerTest, RetainsWhatIsNotAcknowledged) {
  meet();
  network.acknowledges = false;
  ASSERT_TRUE(reduce(10));
  EXPECT_TRUE(runner.retaining());
  network.acknowledges = true;
  EXPECT_FALSE(runner.retaining());
}

TEST_F(VerbsRunnerTest, TheDeadlineEndsTheRun) {
  meet();
  network.drops_from = 2;
  const auto late = reduce(1000, Clock::now() + 5ms);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Error::Code::timeout);
  EXPECT_NE(late.error().message.find("did not come"), std::string::npos) << late.error().message;

  network.drops_from = ~0u;
  const auto after = runner.run(allreduce_between(given, result), Clock::now() + 10s);
  ASSERT_FALSE(after);
  EXPECT_NE(after.error().message.find("run is over"), std::string::npos);
}

TEST_F(VerbsRunnerTest, EveryMessagePutsAStallOff) {
  meet();
  network.at_once = 1;
  network.waits.clear();
  ASSERT_TRUE(reduce(1000, {never, 10s}));
  ASSERT_GT(network.waits.size(), 10u);
  for (std::size_t i = 1; i < network.waits.size(); ++i) {
    EXPECT_GT(network.waits[i], network.waits[i - 1]);
  }
}

TEST_F(VerbsRunnerTest, NoMessagePutsAFixedDeadlineOff) {
  meet();
  network.at_once = 1;
  network.waits.clear();
  const auto until = Clock::now() + 10s;
  ASSERT_TRUE(reduce(1000, {until, 20s}));
  ASSERT_GT(network.waits.size(), 10u);
  EXPECT_LE(*std::ranges::max_element(network.waits), until);
}

TEST_F(VerbsRunnerTest, AStallEndsTheRun) {
  meet();
  network.drops_from = 2;
  const auto stalled = reduce(1000, {never, 5ms});
  ASSERT_FALSE(stalled);
  EXPECT_EQ(stalled.error().code, Error::Code::timeout);
  EXPECT_EQ(stalled.error().message.find("allreduce made no progress for 0.005 s: message 1 of "),
            0u)
      << stalled.error().message;
}

TEST_F(VerbsRunnerTest, WhatTheLinkSaysEndsTheRun) {
  meet();
  network.fault = Error{Error::Code::network, "the cable burns"};
  const auto failed = reduce(10);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "the cable burns");
  EXPECT_FALSE(runner.retaining());
}

TEST_F(VerbsRunnerTest, ADeviceThatSendsInVainFromTheStartHasNoSmallerMtuAsItsCause) {
  meet();
  network.fault = Error{Error::Code::timeout, "nobody has acknowledged it"};
  const auto failed = reduce(1000);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "nobody has acknowledged it");
}

TEST_F(VerbsRunnerTest, ADeviceThatSendsInVainAfterFullMessagesMayHaveASmallerMtuAsItsCause) {
  meet();
  ASSERT_TRUE(reduce(1000));
  network.fault = Error{Error::Code::timeout, "nobody has acknowledged it"};
  const auto failed = reduce(1000);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message,
            "nobody has acknowledged it; where all ranks run and pings pass, a link has a smaller "
            "MTU than when the ranks met: a new communicator finds the size that passes");
}

TEST_F(VerbsRunnerTest, AnotherRunIsConnectedAnewInItsOwnPackets) {
  meet();
  network.fault = Error{Error::Code::network, "packets are too large"};
  ASSERT_FALSE(reduce(10));
  const auto sent = runner.statistics().messages_sent;
  network.fault.reset();
  auto smaller = plan;
  smaller.mtu = 512;
  smaller.run = 1;
  ASSERT_TRUE(runner.begin_run(smaller));
  EXPECT_EQ(network.connected_for.mtu, 512u);
  EXPECT_EQ(network.connected_for.run, 1u);
  EXPECT_EQ(runner.job().payload_bytes, 512u);
  EXPECT_EQ(runner.statistics().messages_sent, sent) << "those of the run before count, too";
  EXPECT_FALSE(runner.retaining());
}

TEST(FirstPsn, IsFarFromThatOfOtherRuns) {
  const LinkEnd end{.first_psn = 0xfffff0};
  EXPECT_EQ(first_psn_of(end, 0), 0xfffff0u);
  EXPECT_EQ(first_psn_of(end, 1), 0x0ffff0u);
  EXPECT_EQ(first_psn_of(end, 14), 0xdffff0u);
}

TEST(VerbsLink, TheTimeoutFollowsFromTheDeadlineWithinLimits) {
  EXPECT_EQ(rdma_timeout_for(70s), 10s);
  EXPECT_EQ(rdma_timeout_for(1s), 1s);
  EXPECT_GT(rdma_timeout_for(24h), 17s);
  EXPECT_LE(rdma_timeout_for(24h), 20s);
}

TEST(VerbsLink, SaysWhichDeviceIsMissing) {
  const auto opened =
      open_verbs_link({"tributary0", wire::Ipv4Address(127, 0, 0, 1), 0, 30s}, plan);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Error::Code::invalid_argument);
  EXPECT_NE(opened.error().message.find("tributary0"), std::string::npos);
}

}  // namespace
}  // namespace tributary::host::test
