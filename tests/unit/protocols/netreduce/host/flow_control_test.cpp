// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/flow_control.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/kernel.h"
#include "unit/host/vectors.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;

constexpr NetReducePlan small_plan{.ring = 9, .window = 2, .message_packets = 3, .mtu = 256};

// The slots of one rank, and the messages that it has posted.
class MemoryLink final : public Link {
 public:
  explicit MemoryLink(const NetReducePlan& plan)
      : sent(plan.slots(), std::vector<std::byte>(plan.message_bytes())), received(sent) {}

  wire::MutableBytes send_slot(std::uint32_t slot) override { return sent[slot]; }
  wire::Bytes received_slot(std::uint32_t slot) override { return received[slot]; }
  Result<void> post(std::uint32_t message, std::uint32_t bytes) override {
    EXPECT_EQ(message, lengths.size());
    lengths.push_back(bytes);
    return {};
  }

  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> received;
  std::vector<std::uint32_t> lengths;  // of all messages
};

// A ring whose switch handles whole messages.
class MemoryRing {
 public:
  explicit MemoryRing(std::uint32_t ranks, const NetReducePlan& plan = small_plan) : plan_(plan) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      Job job;
      job.key = {4, 5, 6};
      job.rank = rank;
      job.peers.resize(ranks);
      links.push_back(std::make_unique<MemoryLink>(plan));
      flows.push_back(std::make_unique<FlowControl>(job, plan, *links.back()));
    }
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(flows.size()); }

  void barrier() {
    for (auto& flow : flows) {
      ASSERT_TRUE(flow->begin({Collective::barrier, {}, 0}));
    }
    run();
  }

  // Runs until no message is left that all ranks have sent.
  void run() {
    while (everybody_has_sent(summed)) {
      deliver(summed++);
    }
  }

  bool everybody_has_sent(std::uint32_t message) const {
    return std::all_of(links.begin(), links.end(),
                       [&](const auto& link) { return link->lengths.size() > message; });
  }

  // Returns rank 0's message, with the sum in it.
  std::vector<std::byte> sum_of(std::uint32_t message) {
    const auto slot = message % plan_.slots();
    auto sum = links[0]->sent[slot];
    sum.resize(links[0]->lengths[message]);
    for (std::size_t at = 0; at < sum.size(); at += plan_.mtu) {
      const auto end = std::min<std::size_t>(at + plan_.mtu, sum.size()) - 8;
      const auto begin = at + (at == 0 ? sizeof(wire::InaHeader) : 0);
      for (std::uint32_t rank = 1; rank < ranks(); ++rank) {
        const auto* const other = links[rank]->sent[slot].data();
        add(sum, begin, end, other);
        std::uint64_t word = 0;
        std::uint64_t more = 0;
        std::memcpy(&word, sum.data() + end, 8);
        std::memcpy(&more, other + end, 8);
        word += more;
        std::memcpy(sum.data() + end, &word, 8);
      }
    }
    return sum;
  }
  void add(std::vector<std::byte>& sum, std::size_t begin, std::size_t end,
           const std::byte* other) const {
    const auto* const header = wire::peek_ina(sum);
    const auto& kernel = reduce::kernel(header->element_type, header->op);
    if (kernel.in_place) {
      kernel.accumulate(sum.data() + begin, other + begin,
                        (end - begin) / wire::element_bytes(header->element_type));
    }
  }

  // The sum goes on with the header of each rank.
  void deliver(std::uint32_t message) {
    const auto sum = sum_of(message);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      hand_over(rank, message, sum);
    }
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
      arrive(rank, message);
      ASSERT_TRUE(flows[rank]->acknowledged(message + 1));
    }
  }
  void hand_over(std::uint32_t from, std::uint32_t message, std::vector<std::byte> bytes) {
    const auto slot = message % plan_.slots();
    std::memcpy(bytes.data(), links[from]->sent[slot].data(), sizeof(wire::InaHeader));
    auto& place = links[(from + 1) % ranks()]->received[slot];
    std::copy(bytes.begin(), bytes.end(), place.begin());
  }
  void arrive(std::uint32_t rank, std::uint32_t message) {
    const auto before = (rank + ranks() - 1) % ranks();
    if (auto arrived = flows[rank]->arrived(message, links[before]->lengths[message]); !arrived) {
      failures.push_back(arrived.error().message);
    }
  }

  std::vector<std::unique_ptr<MemoryLink>> links;
  std::vector<std::unique_ptr<FlowControl>> flows;
  std::vector<std::string> failures;
  std::uint32_t summed = 0;  // messages

 private:
  NetReducePlan plan_;
};

std::vector<std::byte> as_sent(MemoryLink& link, std::uint32_t message) {
  auto bytes = link.sent[message % small_plan.slots()];
  bytes.resize(link.lengths[message]);
  return bytes;
}

bool is_running(const MemoryRing& ring) {
  return std::any_of(ring.flows.begin(), ring.flows.end(),
                     [](const auto& flow) { return flow->running(); });
}

TEST(NetReduceFlowControl, SumsVectorsOfAnyLength) {
  MemoryRing ring(3);
  ring.barrier();
  EXPECT_FALSE(is_running(ring));
  for (const auto type : {ElementType::i8, ElementType::f32, ElementType::i64}) {
    for (const std::size_t count : {1, 7, 177, 178, 713, 10001}) {
      Vectors vectors(3, count, type, Operator::sum, count % 3);
      for (std::uint32_t rank = 0; rank < 3; ++rank) {
        ASSERT_TRUE(
            ring.flows[rank]->begin(rank == 1 ? vectors.in_place(rank) : vectors.apart(rank)));
      }
      ring.run();
      EXPECT_FALSE(is_running(ring));
      EXPECT_EQ(vectors.wrong(), 0u) << count;
    }
  }
  EXPECT_TRUE(ring.failures.empty()) << ring.failures[0];
}

// A packet has no room for whole pairs only: 216 or 248 bytes, in which 13 or 15 of 16 fit.
TEST(NetReduceFlowControl, NoPairIsCut) {
  for (const std::size_t count : {1, 13, 14, 28, 43, 44, 1001}) {
    MemoryRing ring(3);
    ring.barrier();
    Vectors vectors(3, count, ElementType::f64_i32, Operator::maxloc, count % 3);
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      ASSERT_TRUE(ring.flows[rank]->begin(vectors.apart(rank)));
    }
    ring.run();
    EXPECT_FALSE(is_running(ring));
    EXPECT_EQ(vectors.wrong(), 0u) << count;
    const auto message = as_sent(*ring.links[0], 1);
    EXPECT_TRUE(wire::is_sound(*wire::peek_ina(message), small_plan.mtu));
    EXPECT_EQ(wire::peek_ina(message)->packets.value(), count <= 13 ? 1 : count <= 28 ? 2 : 3);
    EXPECT_EQ(message.size(), count == 1    ? 32u + 16 + 8
                              : count == 13 ? 32u + 13 * 16 + 8
                              : count == 14 ? 256u + 16 + 8
                              : count == 28 ? 256u + 15 * 16 + 8
                                            : 2 * 256u + 15 * 16 + 8);
    EXPECT_TRUE(ring.failures.empty()) << ring.failures[0];
  }
}

TEST(NetReduceFlowControl, EveryMessageIsSound) {
  MemoryRing ring(2);
  ring.barrier();
  Vectors vectors(2, 5000, ElementType::i8, Operator::max);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(vectors.apart(rank)));
  }
  for (; !ring.links[0]->lengths.empty() && is_running(ring); ring.deliver(ring.summed++)) {
    const auto message = as_sent(*ring.links[0], ring.summed);
    const auto* const header = wire::peek_ina(message);
    ASSERT_NE(header, nullptr);
    EXPECT_TRUE(wire::is_sound(*header, small_plan.mtu));
    EXPECT_EQ(header->message.value(), ring.summed);
    EXPECT_EQ(header->length.value(), message.size());
    EXPECT_EQ(header->ring.value(), 9u);
    EXPECT_EQ(header->op, Operator::max);
  }
  EXPECT_EQ(vectors.wrong(), 0u);
  EXPECT_EQ(ring.summed, 1u + 5000 / 712 + 1);
}

TEST(NetReduceFlowControl, NoMoreThanAWindowIsOpen) {
  MemoryRing ring(2);
  Vectors vectors(2, 9000, ElementType::i8, Operator::sum);
  ring.barrier();
  ASSERT_TRUE(ring.flows[0]->begin(vectors.apart(0)));
  EXPECT_EQ(ring.flows[0]->messages_posted(), 1u + small_plan.window);
  ASSERT_TRUE(ring.flows[1]->begin(vectors.apart(1)));
  ring.deliver(ring.summed++);
  EXPECT_EQ(ring.flows[0]->messages_posted(), 2u + small_plan.window);
}

// A slot is written again only when what was in it is known to have come.
TEST(NetReduceFlowControl, WaitsForAcknowledgementsOfTheLastUseOfASlot) {
  MemoryRing ring(2);
  Vectors vectors(2, 9000, ElementType::i8, Operator::sum);
  ring.barrier();
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(vectors.apart(rank)));
  }
  for (std::uint32_t message = 1; message <= 3; ++message) {
    const auto sum = ring.sum_of(message);
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      ring.hand_over(rank, message, sum);
    }
    ring.arrive(0, message);
    ring.arrive(1, message);
  }
  // Only the barrier is acknowledged.
  EXPECT_EQ(ring.flows[0]->messages_posted(), 1u + small_plan.slots());
  EXPECT_FALSE(ring.flows[0]->settled());
  ASSERT_TRUE(ring.flows[0]->acknowledged(2));
  EXPECT_EQ(ring.flows[0]->messages_posted(), 2u + small_plan.slots());
}

TEST(NetReduceFlowControl, BroadcastsAndReducesToOne) {
  MemoryRing ring(3);
  ring.barrier();
  std::vector<std::vector<double>> values;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    values.emplace_back(300, rank == 1 ? -0.0 : 1.0 + rank);
  }
  const auto call_of = [&](std::uint32_t rank, Collective collective, Operator op) {
    auto* const bytes = reinterpret_cast<std::byte*>(values[rank].data());
    return Call{collective, {bytes, bytes, 300, ElementType::f64, op}, 1};
  };
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(call_of(rank, Collective::reduce, Operator::sum)));
  }
  ring.run();
  EXPECT_EQ(values[0], std::vector<double>(300, 1.0));
  EXPECT_EQ(values[1], std::vector<double>(300, 4.0));
  values[1].assign(300, -0.0);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(call_of(rank, Collective::broadcast, Operator::sum)));
  }
  ring.run();
  for (const auto& mine : values) {
    EXPECT_EQ(std::memcmp(mine.data(), values[1].data(), 300 * sizeof(double)), 0);
  }
  EXPECT_TRUE(ring.failures.empty());
}

TEST(NetReduceFlowControl, TellsWhenNoSwitchAdds) {
  MemoryRing ring(2);
  for (auto& flow : ring.flows) {
    ASSERT_TRUE(flow->begin({Collective::barrier, {}, 0}));
  }
  ring.hand_over(0, 0, as_sent(*ring.links[0], 0));
  ring.arrive(1, 0);
  ASSERT_EQ(ring.failures.size(), 1u);
  EXPECT_NE(ring.failures[0].find("no switch on the way adds for ring 9"), std::string::npos)
      << ring.failures[0];
}

// A packet that comes before this rank has sent its part cannot be a sum either.
TEST(NetReduceFlowControl, TellsThatAlsoOfWhatCameEarly) {
  MemoryRing ring(2);
  ASSERT_TRUE(ring.flows[0]->begin({Collective::barrier, {}, 0}));
  ring.hand_over(0, 0, as_sent(*ring.links[0], 0));
  ring.arrive(1, 0);
  const auto begun = ring.flows[1]->begin({Collective::barrier, {}, 0});
  ASSERT_FALSE(begun);
  EXPECT_NE(begun.error().message.find("no switch on the way adds"), std::string::npos)
      << begun.error().message;
}

TEST(NetReduceFlowControl, TellsWhenASwitchAddsNoMore) {
  MemoryRing ring(2);
  ring.barrier();
  for (auto& flow : ring.flows) {
    ASSERT_TRUE(flow->begin({Collective::barrier, {}, 0}));
  }
  ring.hand_over(0, 1, as_sent(*ring.links[0], 1));
  ring.arrive(1, 1);
  ASSERT_EQ(ring.failures.size(), 1u);
  EXPECT_NE(ring.failures[0].find("message 1 came as rank 0 sent it"), std::string::npos);
  EXPECT_NE(ring.failures[0].find("was it restarted"), std::string::npos) << ring.failures[0];
}

TEST(NetReduceFlowControl, TakesNoSumThatLacksSomebodyOrHasSomebodyTwice) {
  MemoryRing ring(3);
  ring.barrier();
  Vectors vectors(3, 100, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(vectors.apart(rank)));
  }
  // The sum has rank 1 twice, and lacks rank 2.
  std::memcpy(ring.links[2]->sent[1].data() + 32, ring.links[1]->sent[1].data() + 32, 256);
  ring.deliver(1);
  ASSERT_EQ(ring.failures.size(), 3u);
  EXPECT_NE(ring.failures[0].find("is not the sum"), std::string::npos) << ring.failures[0];
  EXPECT_EQ(vectors.out[0], Elements(400, std::byte{0xee}));
}

// Each rank is in the packet in the middle once, but rank 0 with its first, and rank 1 with its
// last.
TEST(NetReduceFlowControl, TakesNoSumOfPacketsThatHaveOtherNumbers) {
  MemoryRing ring(3);
  ring.barrier();
  Vectors vectors(3, 150, ElementType::i32, Operator::sum);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    ASSERT_TRUE(ring.flows[rank]->begin(vectors.apart(rank)));
  }
  const auto word = [&](std::uint32_t rank, std::size_t packet) {
    auto& link = *ring.links[rank];
    const auto end = std::min<std::size_t>((packet + 1) * small_plan.mtu, link.lengths[1]);
    return link.sent[1].data() + end - wire::fingerprint_bytes;
  };
  std::memcpy(word(0, 1), word(0, 0), wire::fingerprint_bytes);
  std::memcpy(word(1, 1), word(1, 2), wire::fingerprint_bytes);
  ring.deliver(1);
  ASSERT_EQ(ring.failures.size(), 3u);
  EXPECT_NE(ring.failures[0].find("packet 1 of message 1 is not the sum"), std::string::npos)
      << ring.failures[0];
}

// One rank refused a call that the others made: nothing of theirs is taken for part of its next.
TEST(NetReduceFlowControl, CallsOfTheSameShapeAreNotMistakenForEachOther) {
  MemoryRing ring(2);
  ring.barrier();
  Vectors vectors(2, 100, ElementType::i32, Operator::sum);
  ring.flows[0]->skip(vectors.apart(0));
  ASSERT_TRUE(ring.flows[0]->begin(vectors.apart(0)));
  ASSERT_TRUE(ring.flows[1]->begin(vectors.apart(1)));
  ring.run();
  ASSERT_EQ(ring.failures.size(), 2u);
  EXPECT_NE(ring.failures[1].find("do all ranks call the same"), std::string::npos);
}

TEST(NetReduceFlowControl, AfterAFailureTheRunIsOver) {
  MemoryRing ring(2);
  ring.barrier();
  Vectors vectors(2, 100, ElementType::i32, Operator::sum);
  ASSERT_TRUE(ring.flows[0]->begin(vectors.apart(0)));
  const auto diagnosis = ring.flows[0]->diagnose();
  EXPECT_NE(diagnosis.find("message 0 of 1"), std::string::npos) << diagnosis;
  ring.flows[0]->abandon("it took too long");
  EXPECT_FALSE(ring.flows[0]->running());
  EXPECT_TRUE(ring.flows[0]->settled());
  const auto again = ring.flows[0]->begin(vectors.apart(0));
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().message.find("it took too long"), std::string::npos);
  // Later packets of that call change nothing.
  ASSERT_TRUE(ring.flows[1]->begin(vectors.apart(1)));
  ring.deliver(1);
  EXPECT_EQ(vectors.out[0], Elements(400, std::byte{0xee}));
}

}  // namespace
}  // namespace tributary::host::test
