// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/impairment.h"

#include <bit>
#include <cstring>

#include <gtest/gtest.h>

#include "packet/pool.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

class ImpairmentTest : public testing::Test {
 protected:
  PacketPtr numbered(std::uint32_t number) {
    auto packet = pool_.allocate();
    packet->length = 64;
    std::memset(packet->data(), 0, packet->length);
    std::memcpy(packet->data(), &number, sizeof number);
    return packet;
  }
  static std::uint32_t number_of(const Packet& packet) {
    std::uint32_t number = 0;
    std::memcpy(&number, packet.data(), sizeof number);
    return number;
  }
  // Returns the numbers of the packets that come out when `count` are passed at once and time goes
  // on.
  std::vector<std::uint32_t> run(Impairment& impairment, std::uint32_t count) {
    PacketList out;
    for (std::uint32_t i = 0; i < count; ++i) {
      impairment.pass(numbered(i), start, out);
    }
    while (impairment.deadline() != never) {
      impairment.poll(impairment.deadline(), out);
    }
    std::vector<std::uint32_t> numbers;
    while (auto packet = out.pop()) {
      numbers.push_back(number_of(*packet));
    }
    return numbers;
  }
  ~ImpairmentTest() override { EXPECT_EQ(pool_.outstanding(), 0u); }

  HeapPacketPool pool_{25000, 64};
};

TEST_F(ImpairmentTest, NothingConfiguredChangesNothing) {
  Impairment impairment({});
  EXPECT_FALSE(impairment.active());
  EXPECT_EQ(run(impairment, 4), (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST_F(ImpairmentTest, SameSeedSameFate) {
  ImpairmentConfig config;
  config.loss = 0.1;
  config.duplicate = 0.1;
  config.reorder = 0.1;
  config.jitter = 1ms;
  config.seed = 5;
  Impairment one(config);
  Impairment two(config);
  const auto fate = run(one, 1000);
  EXPECT_EQ(fate, run(two, 1000));
  config.seed = 6;
  Impairment three(config);
  EXPECT_NE(fate, run(three, 1000));
}

TEST_F(ImpairmentTest, RatesAreKeptAndCounted) {
  ImpairmentConfig config;
  config.loss = 0.1;
  config.duplicate = 0.2;
  config.corrupt = 0.05;
  Impairment impairment(config);
  const auto out = run(impairment, 10000);
  const auto& counters = impairment.counters();
  EXPECT_NEAR(static_cast<double>(counters.lost), 1000, 150);
  EXPECT_NEAR(static_cast<double>(counters.duplicated), 1800, 200);
  EXPECT_NEAR(static_cast<double>(counters.corrupted), 540, 100);
  EXPECT_EQ(out.size(), 10000 - counters.lost + counters.duplicated);
}

TEST_F(ImpairmentTest, CorruptionFlipsOneBit) {
  ImpairmentConfig config;
  config.corrupt = 1;
  Impairment impairment(config);
  PacketList out;
  impairment.pass(numbered(0), start, out);
  const auto packet = out.pop();
  int bits = 0;
  for (const auto byte : packet->bytes()) {
    bits += std::popcount(std::to_integer<unsigned>(byte));
  }
  EXPECT_EQ(bits, 1);
}

TEST_F(ImpairmentTest, ReorderedPacketIsOvertakenByTheGap) {
  ImpairmentConfig config;
  config.reorder = 0.02;
  config.reorder_gap = 3;
  Impairment impairment(config);
  const auto out = run(impairment, 2000);
  ASSERT_EQ(out.size(), 2000u);
  EXPECT_GT(impairment.counters().reordered, 20u);
  std::size_t displaced = 0;
  for (std::size_t at = 0; at < out.size(); ++at) {
    displaced += at >= out[at] + 3 ? 1 : 0;
  }
  EXPECT_EQ(displaced, impairment.counters().reordered);
}

TEST_F(ImpairmentTest, LastReorderedPacketIsNotHeldForEver) {
  ImpairmentConfig config;
  config.reorder = 1;
  Impairment impairment(config);
  PacketList out;
  impairment.pass(numbered(0), start, out);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(impairment.deadline(), start + 10ms);
  impairment.poll(start + 10ms, out);
  EXPECT_EQ(out.size(), 1u);
}

TEST_F(ImpairmentTest, ConstantDelayKeepsTheOrder) {
  ImpairmentConfig config;
  config.delay = 2ms;
  Impairment impairment(config);
  PacketList out;
  for (std::uint32_t i = 0; i < 5; ++i) {
    impairment.pass(numbered(i), start, out);
  }
  EXPECT_EQ(impairment.deadline(), start + 2ms);
  impairment.poll(start + 2ms - 1ns, out);
  EXPECT_TRUE(out.empty());
  impairment.poll(start + 2ms, out);
  for (std::uint32_t i = 0; i < 5; ++i) {
    EXPECT_EQ(number_of(*out.pop()), i);
  }
  EXPECT_EQ(impairment.counters().delayed, 5u);
}

TEST_F(ImpairmentTest, JitterStaysWithinItsBounds) {
  ImpairmentConfig config;
  config.delay = 2ms;
  config.jitter = 1ms;
  Impairment impairment(config);
  PacketList out;
  for (std::uint32_t i = 0; i < 200; ++i) {
    impairment.pass(numbered(i), start, out);
  }
  EXPECT_GE(impairment.deadline(), start + 2ms);
  impairment.poll(start + 3ms, out);
  EXPECT_EQ(out.size(), 200u);
}

TEST_F(ImpairmentTest, SwitchedOffItStillDeliversWhatItHeld) {
  ImpairmentConfig config;
  config.delay = 2ms;
  Impairment impairment(config);
  PacketList out;
  impairment.pass(numbered(0), start, out);
  impairment.configure({});
  EXPECT_TRUE(impairment.active());
  impairment.poll(start + 2ms, out);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_FALSE(impairment.active());
}

}  // namespace
}  // namespace tributary::forwarding
