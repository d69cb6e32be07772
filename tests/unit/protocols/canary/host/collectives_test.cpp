// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/collectives.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "memory_network.h"
#include "vectors.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;

class WorldSizes : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, WorldSizes, testing::Values(2, 3, 5, 7, 8));

TEST_P(WorldSizes, ReduceEveryLength) {
  MemoryNetwork network(GetParam());
  constexpr std::size_t packet = 64 / sizeof(float);
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, packet - 1, packet, packet + 1, std::size_t{997}}) {
    Vectors vectors(GetParam(), count, ElementType::f32, Operator::sum);
    begin_all(network, vectors);
    network.settle();
    expect_all_done(network);
    EXPECT_EQ(vectors.wrong(), 0u) << count << " elements";
  }
}

TEST_P(WorldSizes, ReduceInPlaceUnaligned) {
  MemoryNetwork network(GetParam());
  Vectors vectors(GetParam(), 1009, ElementType::f64, Operator::sum, 3);
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    network[rank].begin(vectors.in_place(rank), network.now, network.now + deadline_after);
  }
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(CanaryCollectives, ReducesEveryTypeWithEveryOperator) {
  MemoryNetwork network(5, 96);
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const auto element_type = static_cast<ElementType>(type);
      const auto reduced = static_cast<Operator>(op);
      if (!wire::is_valid(element_type, reduced)) {
        continue;
      }
      Vectors vectors(5, 211, element_type, reduced, 1);
      begin_all(network, vectors);
      network.settle();
      expect_all_done(network);
      EXPECT_EQ(vectors.wrong(), 0u) << name(element_type) << " " << name(reduced);
    }
  }
}

TEST(CanaryCollectives, IdsMayWrap) {
  MemoryNetwork network(3, 64, 4, 0xffffff80u);
  Vectors vectors(3, 1600, ElementType::i32, Operator::sum);  // 100 blocks
  for (int i = 0; i < 3; ++i) {
    // One rank is late, so that packets of the next collective are kept across the wrap, too.
    network[0].begin(vectors.apart(0), network.now, network.now + deadline_after);
    network[1].begin(vectors.apart(1), network.now, network.now + deadline_after);
    network.settle();
    network[2].begin(vectors.apart(2), network.now, network.now + deadline_after);
    network.settle();
    expect_all_done(network);
    EXPECT_EQ(vectors.wrong(), 0u);
  }
  EXPECT_EQ(network[0].statistics().ignored.total(), 0u);
}

TEST(CanaryCollectives, ReorderedPacketsAreFine) {
  std::mt19937 random(7);
  MemoryNetwork network(7);
  network.on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    queue.insert(queue.begin() + static_cast<std::ptrdiff_t>(random() % (queue.size() + 1)),
                 std::move(datagram));
  };
  Vectors vectors(7, 2003, ElementType::i64, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(CanaryCollectives, LateRankFindsWhatCameEarly) {
  MemoryNetwork network(3);
  Vectors vectors(3, 997, ElementType::f32, Operator::sum);
  for (int collective = 0; collective < 2; ++collective) {
    network[0].begin(vectors.apart(0), network.now, network.now + deadline_after);
    network[1].begin(vectors.apart(1), network.now, network.now + deadline_after);
    network.settle();
    EXPECT_TRUE(network[0].running());
    EXPECT_GT(network[2].statistics().stashed, 0u);
    network[2].begin(vectors.apart(2), network.now, network.now + deadline_after);
    network.settle();
    expect_all_done(network);
    EXPECT_EQ(vectors.wrong(), 0u);
  }
  EXPECT_EQ(network[2].statistics().ignored.total(), 0u);
}

TEST(CanaryCollectives, WhatCameEarlyIsKeptUpTo16MiB) {
  constexpr std::uint32_t payload_bytes = 65504;
  constexpr std::uint32_t window = 500;
  // All at once, as windows that have grown allow.
  MemoryNetwork network(3, payload_bytes, window, 0, {.congestion_control = false});
  Vectors vectors(3, window * payload_bytes / 4, ElementType::f32, Operator::sum);
  network[0].begin(vectors.apart(0), network.now, network.now + deadline_after);
  network[1].begin(vectors.apart(1), network.now, network.now + deadline_after);
  network.settle();
  EXPECT_EQ(network[2].statistics().stashed,
            (16u << 20) / (payload_bytes + sizeof(wire::CanaryHeader)));
  network[2].begin(vectors.apart(2), network.now, network.now + deadline_after);
  network.run();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(CanaryCollectives, WorksAgainAfterATimeout) {
  MemoryNetwork network(3);
  const auto reliable = network.on_wire;
  network.on_wire = [](InFlight, std::deque<InFlight>&) {};
  Vectors vectors(3, 96, ElementType::f32, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    network[rank].expire(network.now + deadline_after);
  }
  network.on_wire = reliable;
  begin_all(network, vectors);
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
}

// Lets one packet with data come to each rank in ten seconds, and none after `stop`.
class SlowCanary {
 public:
  SlowCanary() {
    network.on_wire = [this](InFlight datagram, std::deque<InFlight>& queue) {
      const auto kind = datagram.header().kind;
      if (kind == wire::CanaryKind::contribution || kind == wire::CanaryKind::result) {
        auto& next = next_[datagram.destination.address.value() % 4];
        if (network.now < next || network.now >= stop) {
          return;
        }
        next = network.now + std::chrono::seconds(10);
      }
      queue.push_back(std::move(datagram));
    };
  }

  void begin(const Deadline& deadline) {
    for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
      network[rank].begin(vectors.apart(rank), network.now, deadline);
    }
  }
  std::uint64_t taken(std::uint32_t rank) {
    const auto& statistics = network[rank].statistics();
    return statistics.results_received + statistics.contributions_received;
  }

  MemoryNetwork network{3};
  Vectors vectors{3, 200, ElementType::f32, Operator::sum};
  const Time start = network.now;
  Time stop = never;

 private:
  std::array<Time, 4> next_{};
};

TEST(CanaryCollectives, GoesOnAsLongAsItMakesProgress) {
  SlowCanary slow;
  slow.begin({never, std::chrono::seconds(30)});
  slow.network.run(std::chrono::hours(1));
  expect_all_done(slow.network);
  EXPECT_EQ(slow.vectors.wrong(), 0u);
  EXPECT_GT(slow.network.now, slow.start + std::chrono::seconds(90));
}

TEST(CanaryCollectives, FailsWhenItMadeNoProgressForTooLong) {
  SlowCanary slow;
  slow.stop = slow.start + std::chrono::seconds(60);
  slow.begin({never, std::chrono::seconds(30)});
  std::array<Time, 3> progress{};
  std::array<std::uint64_t, 3> taken{};
  for (int second = 0; second < 120; ++second) {
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      if (slow.taken(rank) != std::exchange(taken[rank], slow.taken(rank))) {
        progress[rank] = slow.network.now;
      }
      ASSERT_EQ(slow.network[rank].running(),
                slow.network.now < progress[rank] + std::chrono::seconds(30))
          << "rank " << rank << " after " << second << " s";
    }
    slow.network.run(std::chrono::seconds(1));
  }
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(slow.network[rank].failure());
    const auto& said = slow.network[rank].failure()->message;
    EXPECT_EQ(slow.network[rank].failure()->code, Error::Code::timeout);
    EXPECT_EQ(said.find("allreduce made no progress for 30 s: block "), 0u) << said;
  }
}

TEST(CanaryCollectives, AFixedDeadlineEndsItInSpiteOfProgress) {
  SlowCanary slow;
  slow.begin({slow.start + std::chrono::seconds(45), std::chrono::seconds(30)});
  slow.network.run(std::chrono::seconds(44));
  EXPECT_TRUE(slow.network[0].running());
  slow.network.run(std::chrono::seconds(1));
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(slow.network[rank].failure());
    const auto& said = slow.network[rank].failure()->message;
    EXPECT_EQ(said.find("allreduce did not finish within its deadline of 45 s: block "), 0u)
        << said;
  }
}

// Without the job's key a stranger cannot forge a result that comes before the true one.
TEST(CanaryCollectives, ForgedResultsAreIgnored) {
  MemoryNetwork network(3);
  network.on_wire = [](InFlight datagram, std::deque<InFlight>& queue) {
    if (datagram.header().kind == wire::CanaryKind::result) {
      auto forged = datagram;
      forged.header().fingerprint = forged.header().fingerprint.value() + 1;
      std::fill(forged.payload().begin(), forged.payload().end(), std::byte{0x55});
      seal(forged.header(), forged.payload());
      queue.push_back(std::move(forged));
    }
    queue.push_back(std::move(datagram));
  };
  Vectors vectors(3, 160, ElementType::i32, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
}

TEST(CanaryCollectives, DuplicatesOfFinishedBlocksAreIgnored) {
  MemoryNetwork network(2);
  network.on_wire = [](InFlight datagram, std::deque<InFlight>& queue) {
    queue.push_back(datagram);
    queue.push_back(std::move(datagram));
  };
  Vectors vectors(2, 160, ElementType::i32, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
  const auto ignored = network[0].statistics().ignored;
  EXPECT_GT(ignored[Verdict::duplicate] + ignored[Verdict::stale], 0u);
}

TEST(CanaryCollectives, ForeignAndBrokenPacketsAreCountedAndIgnored) {
  MemoryNetwork network(2);
  network.on_wire = [](InFlight datagram, std::deque<InFlight>& queue) {
    const auto twist = [&](auto change) {
      auto twisted = datagram;
      change(twisted.header());
      seal(twisted.header(), twisted.payload());
      queue.push_back(std::move(twisted));
    };
    twist([](auto& header) { header.job = 0x1234; });
    twist([](auto& header) { header.id = header.id.value() - 1000; });
    twist([](auto& header) { header.element_type = ElementType::f32; });
    twist([](auto& header) {
      header.hosts = 9;
      header.counter = header.multicast() ? 9 : 1;
    });
    twist([](auto& header) { header.destination = wire::Ipv4Address(1, 2, 3, 4); });
    auto damaged = datagram;
    damaged.bytes.back() ^= std::byte{1};
    queue.push_back(std::move(damaged));
    auto cut = datagram;
    cut.bytes.resize(cut.bytes.size() / 2);
    queue.push_back(std::move(cut));
    queue.push_back(std::move(datagram));
  };
  Vectors vectors(2, 160, ElementType::i32, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  expect_all_done(network);
  EXPECT_EQ(vectors.wrong(), 0u);
  const auto& statistics = network[0].statistics();
  const auto taken = statistics.contributions_received + statistics.results_received;
  EXPECT_EQ(statistics.ignored[Verdict::malformed], 2 * taken);
  EXPECT_EQ(statistics.ignored[Verdict::foreign], 2 * taken);
  EXPECT_EQ(statistics.ignored[Verdict::stale], taken);
  EXPECT_EQ(statistics.ignored[Verdict::mismatch], 2 * taken);
}

TEST(CanaryCollectives, AnswersEverySenderOnceAndRestoresCollisions) {
  MemoryNetwork network(4);
  const wire::Ipv4Address switch_address(10, 9, 9, 9);
  std::vector<InFlight> answers;
  network.on_wire = [&](InFlight datagram, std::deque<InFlight>& queue) {
    if (datagram.header().kind != wire::CanaryKind::contribution) {
      answers.push_back(datagram);
      return;
    }
    auto& header = datagram.header();
    if (header.rank.value() == 2) {  // met a collision at a switch
      header.flags |= wire::CanaryHeader::bypass_bit;
      header.switch_ipv4 = switch_address;
      header.switch_address = 77;
      header.children = 1u << 5;
      header.shard = 1;
    } else {  // summed up, or passed on, by one and the same switch
      header.child_address = switch_address;
      header.child_port = 17003;
    }
    seal(header, datagram.payload());
    queue.push_back(std::move(datagram));
  };
  Vectors vectors(4, 8, ElementType::f32, Operator::sum);
  begin_all(network, vectors);
  network.settle();
  EXPECT_FALSE(network[0].running());
  ASSERT_EQ(answers.size(), 2u);
  std::sort(answers.begin(), answers.end(),
            [](auto& a, auto& b) { return a.header().kind < b.header().kind; });
  auto& result = answers[0].header();
  EXPECT_EQ(result.kind, wire::CanaryKind::result);
  EXPECT_EQ(answers[0].destination, (Endpoint{switch_address, 17003}));
  EXPECT_TRUE(result.destination == switch_address);
  EXPECT_TRUE(result.multicast());
  EXPECT_FALSE(result.bypass());
  auto& restoration = answers[1].header();
  EXPECT_EQ(restoration.kind, wire::CanaryKind::restoration);
  EXPECT_TRUE(restoration.destination == switch_address);
  EXPECT_EQ(restoration.children.value(), 1u << 5);
  EXPECT_EQ(restoration.shard, 1);
  EXPECT_EQ(restoration.switch_address.value(), 77);
  EXPECT_TRUE(restoration.child_address == MemoryNetwork::address_of(2).address);
  EXPECT_EQ(restoration.child_port.value(), 17000);
  for (auto& answer : answers) {
    EXPECT_EQ(wire::parse_canary(answer.bytes, wire::Encapsulation::udp).error,
              wire::CanaryError::none);
  }
}

}  // namespace
}  // namespace tributary::host::test
