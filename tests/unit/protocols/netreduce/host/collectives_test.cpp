// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/collectives.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "ring_network.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using wire::ElementType;
using wire::Operator;

void expect_reduced(RingNetwork& network, std::size_t count, ElementType type, Operator op) {
  Vectors vectors(network.size(), count, type, op, count % 2);
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    network.begin(rank, rank == 1 ? vectors.in_place(rank) : vectors.apart(rank));
  }
  network.run();
  EXPECT_FALSE(network.is_running());
  EXPECT_EQ(network.failure(), "");
  EXPECT_TRUE(network.harness().ledger.balanced());
  EXPECT_EQ(vectors.wrong(), 0u) << count << " of " << wire::name(type) << ", " << wire::name(op);
}

std::uint64_t sums(RingNetwork& network) {
  return network.harness().figure("sums_total");
}

TEST(NetReduce, TheSwitchAddsForTwoToFiveRanks) {
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    RingNetwork network({.ranks = ranks});
    network.barrier();
    for (const std::size_t count : {1, 55, 249, 250, 1000, 4001}) {
      expect_reduced(network, count, ElementType::f32, Operator::sum);
    }
    // Messages of 4 packets with 248 bytes of elements each, less a header.
    EXPECT_GE(sums(network), 1u + 4001 * 4 / 248);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_FALSE(network[rank].retaining());
      EXPECT_EQ(network[rank].statistics().roce.retransmissions_sent, 0u);
    }
  }
}

TEST(NetReduce, AllTypesAndOperators) {
  RingNetwork network({.ranks = 3});
  network.barrier();
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      if (wire::is_valid(static_cast<ElementType>(type), static_cast<Operator>(op))) {
        expect_reduced(network, 300, static_cast<ElementType>(type), static_cast<Operator>(op));
      }
    }
  }
}

// Gives the lines of a network an MTU.
void carry_only(RingNetwork& network, std::size_t ip_bytes) {
  network.on_wire = [=](Packet& packet, bool) {
    return packet.length <= sizeof(wire::EthernetHeader) + ip_bytes;
  };
}

// Begins a call that full packets of 512 bytes are needed for. Returns the error.
std::string fail_with_full_packets(RingNetwork& network) {
  Vectors vectors(network.size(), 1000, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    network.begin(rank, vectors.apart(rank), Deadline(never, 1s));
  }
  network.run();
  EXPECT_FALSE(network.is_running());
  return network.failure();
}

constexpr NetReducePlan plan_of_512{.ring = 5, .window = 2, .message_packets = 4, .mtu = 512};

TEST(NetReduce, AnotherRunBySmallerPacketsHasExactSumsWhereLargerOnesAreLost) {
  for (const auto restarts : {false, true}) {
    RingNetwork network({.ranks = 3, .plan = plan_of_512});
    carry_only(network, 400);
    network.barrier();
    EXPECT_NE(fail_with_full_packets(network), "");
    if (restarts) {
      network.restart_switch();
    }
    network.weather() = {.doubled = 50, .delay_max = 40us};
    auto smaller = plan_of_512;
    smaller.mtu = 256;
    smaller.run = 1;
    for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
      network[rank].begin_run(smaller);
      EXPECT_EQ(network[rank].job().payload_bytes, 256u);
    }
    network.barrier();
    const auto before = sums(network);
    for (const std::size_t count : {1, 250, 4001}) {
      expect_reduced(network, count, ElementType::f32, Operator::sum);
    }
    EXPECT_GE(sums(network), before + 4001 * 4 / 248);
    EXPECT_GT(network[0].statistics().roce.timeouts, 0u) << "those of the run before count, too";
  }
}

TEST(NetReduce, WhereLongMessagesPassedBeforeTheErrorNamesASmallerMtu) {
  const std::string cause = "a link has a smaller MTU than when the ranks met";
  RingNetwork network({.ranks = 2, .plan = plan_of_512});
  network.barrier();
  expect_reduced(network, 1000, ElementType::i32, Operator::sum);
  carry_only(network, 400);
  const auto later = fail_with_full_packets(network);
  EXPECT_NE(later.find(cause), std::string::npos) << later;

  RingNetwork from_the_start({.ranks = 2, .plan = plan_of_512});
  carry_only(from_the_start, 400);
  from_the_start.barrier();
  const auto at_first = fail_with_full_packets(from_the_start);
  EXPECT_EQ(at_first.find(cause), std::string::npos) << at_first;
}

TEST(NetReduce, OneThousandMessagesPastTheEndOfSequenceNumbers) {
  RingNetwork network({.ranks = 2});
  network.barrier();
  expect_reduced(network, 240'000, ElementType::i32, Operator::sum);
  EXPECT_GT(network[0].statistics().messages_sent, 900u);
}

class NetReduceWeather : public testing::TestWithParam<unsigned> {};

// Every packet in both directions, acknowledgements too.
TEST_P(NetReduceWeather, SumsAreExactWhateverBefallsPackets) {
  const auto seed = GetParam();
  const Weather bad{.lost = 20, .doubled = 20, .damaged = 20, .marked = 50, .delay_max = 40us};
  RingNetwork network({.ranks = 2 + seed % 3, .weather = bad, .seed = seed});
  network.barrier();
  for (const std::size_t count : {3000, 1, 700}) {
    expect_reduced(network, count, ElementType::i32, Operator::sum);
  }
  std::uint64_t again = 0;
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    EXPECT_FALSE(network[rank].retaining());
    again += network[rank].statistics().roce.retransmissions_sent;
  }
  EXPECT_GT(again, 0u);
  EXPECT_GT(sums(network), 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetReduceWeather, testing::Range(1u, 41u));

TEST(NetReduce, ALateRankIsWaitedFor) {
  RingNetwork network({.ranks = 3});
  network.barrier();
  Vectors vectors(3, 2000, ElementType::i32, Operator::sum);
  network.begin(0, vectors.apart(0));
  network.begin(1, vectors.apart(1));
  network.run(20s);
  EXPECT_TRUE(network[0].running());
  EXPECT_GT(network[0].statistics().roce.timeouts, 10u);
  // One packet asks each time, not a window of them.
  EXPECT_LT(network[0].statistics().roce.retransmissions_sent, 60u);
  network.now += 20s;
  network.begin(2, vectors.apart(2));
  network.run();
  EXPECT_FALSE(network.is_running());
  EXPECT_EQ(network.failure(), "");
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(NetReduce, ARankThatIsDoneGoesOnAnswering) {
  RingNetwork network({.ranks = 2});
  network.barrier();
  Vectors vectors(2, 100, ElementType::i32, Operator::sum);
  // All packets to rank 1 are lost, sums and acknowledgements.
  network.on_wire = [](Packet& packet, bool to_switch) {
    return to_switch || engine::parse_frame(packet).ipv4->destination != RingNetwork::address_of(1);
  };
  network.begin(0, vectors.apart(0));
  network.begin(1, vectors.apart(1));
  network.run(1s);
  EXPECT_FALSE(network[0].running());
  EXPECT_TRUE(network[1].running());
  EXPECT_TRUE(network[0].retaining());
  network.on_wire = [](Packet&, bool) { return true; };
  network.run();
  EXPECT_FALSE(network[1].running());
  EXPECT_FALSE(network[0].retaining());
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(NetReduce, ASwitchThatDoesNotAddIsNoticed) {
  RingNetwork network({.ranks = 3, .switch_adds = false});
  network.barrier();
  EXPECT_NE(network.failure().find("no switch on the way adds for ring 5"), std::string::npos)
      << network.failure();
  // The run is over: later calls fail at once.
  network.begin(0, {Collective::barrier, {}, 0});
  EXPECT_FALSE(network[0].running());
  ASSERT_TRUE(network[0].failure());
  EXPECT_NE(network[0].failure()->message.find("make a new communicator"), std::string::npos);
}

TEST(NetReduce, TheDeadlineEndsItAndTheMessageSaysWhatIsMissing) {
  RingNetwork network({.ranks = 2});
  network.barrier();
  Vectors vectors(2, 5000, ElementType::i32, Operator::sum);
  network.begin(0, vectors.apart(0), 3s);
  network.run(10s);
  ASSERT_TRUE(network[0].failure());
  EXPECT_EQ(network[0].failure()->code, Error::Code::timeout);
  const auto& said = network[0].failure()->message;
  EXPECT_NE(said.find("allreduce did not finish within its deadline of 3 s: message 0 of 21"),
            std::string::npos)
      << said;
  EXPECT_NE(said.find("tributaryctl stalled"), std::string::npos) << said;
  EXPECT_EQ(said.find("differs"), std::string::npos)
      << "the ring has just added a barrier: " << said;
}

// Lets one packet with data come to each rank in ten seconds, and none after `stop`.
class SlowRing : public testing::TestWithParam<NetReduceCollectives::Adder> {
 protected:
  void SetUp() override {
    if (GetParam() == NetReduceCollectives::Adder::the_switch) {
      network.barrier();
    }
    start = network.now;
    network.on_wire = [this](Packet& packet, bool to_switch) {
      const auto frame = engine::parse_frame(packet);
      const auto* bth = wire::Cursor(frame.payload).take<wire::BthHeader>();
      if (to_switch || bth->opcode == wire::RoceOpcode::acknowledge) {
        return true;
      }
      auto& next = next_[frame.ipv4->destination.value() - RingNetwork::address_of(0).value()];
      if (network.now < next || network.now >= stop) {
        return false;
      }
      next = network.now + 10s;
      return true;
    };
  }
  void begin(const Deadline& deadline) {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      network.begin(rank, vectors.apart(rank), deadline);
    }
  }
  // Runs until no machine runs any more.
  void run() {
    for (int second = 0; second < 3600 && network.is_running(); ++second) {
      network.run(1s);
    }
  }

  RingNetwork network{{.ranks = 2,
                       .switch_adds = GetParam() == NetReduceCollectives::Adder::the_switch,
                       .tuning = {.retries_max = 1000},
                       .adder = GetParam()}};
  Vectors vectors{2, 800, ElementType::i32, Operator::sum};
  Time start{};
  Time stop = never;

 private:
  std::array<Time, 2> next_{};
};
INSTANTIATE_TEST_SUITE_P(Adders, SlowRing,
                         testing::Values(NetReduceCollectives::Adder::the_switch,
                                         NetReduceCollectives::Adder::hosts));

TEST_P(SlowRing, GoesOnAsLongAsItMakesProgress) {
  begin({never, 30s});
  run();
  EXPECT_EQ(network.failure(), "");
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_GT(network.now, start + 90s);
}

TEST_P(SlowRing, FailsWhenItMadeNoProgressForTooLong) {
  stop = start + 60s;
  begin({never, 30s});
  run();
  EXPECT_GE(network.now, start + 80s);
  EXPECT_LT(network.now, start + 92s);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(network[rank].failure());
    const auto& said = network[rank].failure()->message;
    EXPECT_EQ(network[rank].failure()->code, Error::Code::timeout);
    EXPECT_EQ(said.find("allreduce made no progress for 30 s: message "), 0u) << said;
  }
}

TEST_P(SlowRing, AFixedDeadlineEndsItInSpiteOfProgress) {
  begin({start + 45s, 30s});
  run();
  EXPECT_LT(network.now, start + 47s);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(network[rank].failure());
    const auto& said = network[rank].failure()->message;
    EXPECT_EQ(said.find("allreduce did not finish within its deadline of 45 s: message "), 0u)
        << said;
  }
}

TEST(NetReduce, AConnectionThatFailedBetweenCollectivesEndsTheNextAtOnce) {
  RingNetwork network({.ranks = 2, .tuning = {.retries_max = 5}});
  // Rank 1 gets the sum, and the acknowledgement that rank 0 has got its own is lost.
  network.on_wire = [](Packet& packet, bool) {
    const auto frame = engine::parse_frame(packet);
    const auto* bth = wire::Cursor(frame.payload).take<wire::BthHeader>();
    return bth->opcode != wire::RoceOpcode::acknowledge;
  };
  network.barrier();
  ASSERT_FALSE(network.failure().size()) << network.failure();
  network.begin(0, {Collective::barrier, {}, 0});
  EXPECT_FALSE(network[0].running());
  EXPECT_NE(network.failure().find("did not acknowledge packet"), std::string::npos)
      << network.failure();
}

TEST(NetReduce, AConnectionIsGivenUpAfterSoManyRetries) {
  RingNetwork network({.ranks = 2, .tuning = {.retries_max = 5}});
  network.barrier();
  network.on_wire = [](Packet&, bool to_switch) { return to_switch; };
  network.begin(0, {Collective::barrier, {}, 0});
  network.begin(1, {Collective::barrier, {}, 0});
  network.run();
  EXPECT_NE(network.failure().find("did not acknowledge packet"), std::string::npos)
      << network.failure();
  EXPECT_EQ(network[0].statistics().roce.timeouts, 6u);
  EXPECT_EQ(network[0].deadline(), never);
}

TEST(NetReduce, WhatSwitchesMarkSlowsTheSenderDown) {
  RingNetwork network({.ranks = 2, .weather = {.marked = 200, .delay_max = 40us}});
  network.barrier();
  expect_reduced(network, 60'000, ElementType::i32, Operator::sum);
  const auto told = network[0].statistics().roce;
  EXPECT_GT(told.congestion_notifications_sent, 10u);
  EXPECT_GT(told.congestion_notifications_received, 10u);
}

// This goes over the same connections, without the switch.
TEST(RoceRing, TheHostsAdd) {
  for (std::uint32_t ranks = 2; ranks <= 5; ++ranks) {
    RingNetwork network(
        {.ranks = ranks, .switch_adds = false, .adder = NetReduceCollectives::Adder::hosts});
    for (const std::size_t count : {1, 7, 250, 1000, 4001, 40'000}) {
      expect_reduced(network, count, ElementType::f32, Operator::sum);
    }
    expect_reduced(network, 3001, ElementType::bf16, Operator::sum);
    expect_reduced(network, 3001, ElementType::i8, Operator::max);
    EXPECT_FALSE(network[0].retaining());
  }
}

TEST(RoceRing, SumsAreExactWhateverBefallsPackets) {
  const Weather bad{.lost = 20, .doubled = 20, .damaged = 20, .delay_max = 40us};
  for (unsigned seed = 1; seed <= 20; ++seed) {
    RingNetwork network({.ranks = 2 + seed % 3,
                         .weather = bad,
                         .seed = seed,
                         .switch_adds = false,
                         .adder = NetReduceCollectives::Adder::hosts});
    for (const std::size_t count : {3000, 1, 700}) {
      expect_reduced(network, count, ElementType::i32, Operator::sum);
    }
  }
}

// Others may have begun the next collective, and sent all that they can of it.
TEST(RoceRing, ARankThatIsLateGetsWhatCameBefore) {
  RingNetwork network(
      {.ranks = 4, .switch_adds = false, .adder = NetReduceCollectives::Adder::hosts});
  for (std::uint32_t late = 0; late < 4; ++late) {
    Vectors vectors(4, 20'000, ElementType::i32, Operator::sum);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      if (rank != late) {
        network.begin(rank, vectors.apart(rank));
      }
    }
    network.run(2s);
    EXPECT_TRUE(network.is_running());
    network.begin(late, vectors.apart(late));
    network.run();
    EXPECT_EQ(network.failure(), "");
    EXPECT_EQ(vectors.wrong(), 0u);
  }
}

// One stranger knows addresses, but neither queue pairs nor keys; another one knows all of these,
// but has another address.
TEST(NetReduce, StrangersChangeNothing) {
  RingNetwork network({.ranks = 2});
  network.barrier();
  const auto before = network[1].statistics().roce;
  std::vector<std::byte> forged(64, std::byte{0x5a});
  const Arrival from_a_member{forged, 0, {RingNetwork::address_of(0), wire::roce_udp_port}};
  network[1].receive({&from_a_member, 1}, network.now);
  wire::BthHeader bth;
  bth.opcode = wire::RoceOpcode::write_only_immediate;
  bth.destination_qp = 0x201;
  std::memcpy(forged.data(), &bth, sizeof bth);
  const Arrival from_elsewhere{forged, 0, {wire::Ipv4Address(10, 0, 0, 99), wire::roce_udp_port}};
  network[1].receive({&from_elsewhere, 1}, network.now);
  network[1].receive({&from_a_member, 1}, network.now);
  const auto after = network[1].statistics().roce;
  EXPECT_EQ(after.ignored_foreign, before.ignored_foreign + 2);
  EXPECT_EQ(after.ignored_icrc, before.ignored_icrc + 1);
  EXPECT_EQ(after.packets_received, before.packets_received);
  expect_reduced(network, 1000, ElementType::i32, Operator::sum);
}

}  // namespace
}  // namespace tributary::host::test
