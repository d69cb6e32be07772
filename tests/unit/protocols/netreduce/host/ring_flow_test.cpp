// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/host/ring_flow.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Tests what the rank before may send when it makes other calls. collectives_test.cpp tests calls
// that agree.
namespace tributary::host::test {
namespace {

constexpr NetReducePlan narrow_plan{.ring = 9, .window = 2, .message_packets = 3, .mtu = 256};
constexpr std::uint32_t full = 3 * 256;  // bytes of a message

class SlotsLink final : public Link {
 public:
  wire::MutableBytes send_slot(std::uint32_t) override { return sent_; }
  wire::Bytes received_slot(std::uint32_t) override { return received_; }
  Result<void> post(std::uint32_t, std::uint32_t) override { return {}; }

 private:
  std::vector<std::byte> sent_ = std::vector<std::byte>(full);
  std::vector<std::byte> received_ = std::vector<std::byte>(full);
};

// The second of two ranks.
class RingFlowOfAPair : public testing::Test {
 protected:
  static Job job() {
    Job job;
    job.rank = 1;
    job.peers.resize(2);
    return job;
  }
  Call call_of(std::size_t count) {
    return {Collective::allreduce,
            {vector_.data(), vector_.data(), count, wire::ElementType::i8, wire::Operator::sum}};
  }
  void expect_mismatch(const Result<void>& outcome) {
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Error::Code::mismatch);
    EXPECT_NE(outcome.error().message.find("do all ranks call the same"), std::string::npos)
        << outcome.error().message;
  }
  // The driver of a flow does this.
  void expect_broken(const Result<void>& outcome) {
    expect_mismatch(outcome);
    flow_.abandon(outcome.error().message);
    EXPECT_FALSE(flow_.running());
    EXPECT_FALSE(flow_.begin(call_of(10)));
  }

  std::vector<std::byte> vector_ = std::vector<std::byte>(8 * full);
  SlotsLink link_;
  RingFlow flow_{job(), narrow_plan, link_};
};

TEST_F(RingFlowOfAPair, WhatCameEarlyIsTakenIfItFits) {
  ASSERT_TRUE(flow_.arrived(0, full));
  ASSERT_TRUE(flow_.begin(call_of(2 * full)));
  EXPECT_TRUE(flow_.running());
  ASSERT_TRUE(flow_.arrived(1, full));
  EXPECT_FALSE(flow_.running());
}

TEST_F(RingFlowOfAPair, AnEarlyMessageOfAShorterCallIsAMismatch) {
  ASSERT_TRUE(flow_.arrived(0, 400));
  expect_broken(flow_.begin(call_of(2 * full)));
}

TEST_F(RingFlowOfAPair, MoreEarlyMessagesThanTheCallHasAreAMismatch) {
  for (std::uint32_t message = 0; message < 3; ++message) {
    ASSERT_TRUE(flow_.arrived(message, full));
  }
  expect_broken(flow_.begin(call_of(2 * full)));
}

TEST_F(RingFlowOfAPair, AMessageLongerThanItsSlotIsAMismatch) {
  expect_broken(flow_.arrived(0, full + 1));
}

TEST_F(RingFlowOfAPair, AnEarlyMessageWithAnotherNumberIsAMismatch) {
  ASSERT_TRUE(flow_.arrived(0, full));
  expect_broken(flow_.arrived(2, full));
}

TEST_F(RingFlowOfAPair, RefusesACallForWhichThereAreNoNumbers) {
  const auto begun = flow_.begin(call_of(std::size_t{full} << 32));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().code, Error::Code::invalid_argument);
  EXPECT_NE(begun.error().message.find("no numbers left"), std::string::npos);
  EXPECT_TRUE(flow_.begin(call_of(10)));
}

}  // namespace
}  // namespace tributary::host::test
