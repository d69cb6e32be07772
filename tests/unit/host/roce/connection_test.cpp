// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "host/roce/requester.h"
#include "host/roce/responder.h"

namespace tributary::host::roce::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t mtu = 256;
constexpr Endpoint sender{wire::Ipv4Address(10, 0, 0, 1), wire::roce_udp_port};
constexpr Endpoint receiver{wire::Ipv4Address(10, 0, 0, 2), wire::roce_udp_port};
const Path there{{sender, 0x11}, {receiver, 0x22}};
const Path back{{receiver, 0x22}, {sender, 0x11}};

using Packet = std::vector<std::byte>;

Packet bytes_of(const Datagram& datagram) {
  Packet packet;
  for (const auto part : {datagram.header(), datagram.payload, datagram.trailer()}) {
    packet.insert(packet.end(), part.begin(), part.end());
  }
  return packet;
}

const wire::BthHeader& bth_of(const Packet& packet) {
  return *reinterpret_cast<const wire::BthHeader*>(packet.data());
}

// The two ends of one connection, and packets between them that a test moves.
class RoceConnection : public testing::Test {
 protected:
  explicit RoceConnection(std::uint32_t first_psn = 0xfffffe)
      : requester_(there, first_psn, mtu, tuning_),
        responder_(back, first_psn, mtu, {memory_, 0x7000, 99}, tuning_) {}

  void post(std::size_t length, std::uint64_t offset = 0, std::uint32_t immediate = 5) {
    source_.resize(length);
    for (std::size_t i = 0; i < length; ++i) {
      source_[i] = static_cast<std::byte>(i * 7 + immediate);
    }
    requester_.post({source_, 0x7000 + offset, 99, immediate});
  }
  std::vector<Packet> requests() {
    Outbox outbox(64);
    requester_.poll(outbox, now_);
    return take(outbox);
  }
  std::vector<Packet> replies() {
    Outbox outbox(64);
    responder_.poll(outbox);
    return take(outbox);
  }
  void deliver(Packet& packet, bool marked = false) {
    ASSERT_TRUE(has_right_icrc(packet, sender, back));
    const auto view = wire::parse_roce(packet);
    ASSERT_NE(view.bth, nullptr);
    responder_.take(view, marked, now_);
  }
  void answer(const Packet& packet) {
    ASSERT_TRUE(has_right_icrc(packet, receiver, there));
    const auto reply = parse_reply(packet);
    ASSERT_TRUE(reply);
    requester_.take(*reply, now_);
  }
  void answer_all() {
    for (const auto& reply : replies()) {
      answer(reply);
    }
  }
  RoceStatistics statistics() const {
    RoceStatistics all;
    all += requester_.statistics();
    all += responder_.statistics();
    return all;
  }
  void expect_written(std::size_t length, std::uint64_t offset = 0, std::uint32_t immediate = 5) {
    const auto written = responder_.next_written();
    ASSERT_TRUE(written);
    EXPECT_EQ(written->immediate, immediate);
    EXPECT_EQ(written->bytes, length);
    EXPECT_TRUE(std::equal(source_.begin(), source_.end(),
                           memory_.begin() + static_cast<std::ptrdiff_t>(offset)));
  }

  static std::vector<Packet> take(Outbox& outbox) {
    std::vector<Packet> packets;
    for (; !outbox.empty(); outbox.pop()) {
      packets.push_back(bytes_of(outbox.front()));
    }
    return packets;
  }

  Tuning tuning_;
  std::vector<std::byte> source_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(8192);
  Requester requester_;
  Responder responder_;
  Time now_{1s};
};

TEST_F(RoceConnection, AWriteOfSeveralPacketsIsFirstMiddleLast) {
  post(3 * mtu - 8, 512);
  auto packets = requests();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(bth_of(packets[0]).opcode, wire::RoceOpcode::write_first);
  EXPECT_EQ(bth_of(packets[1]).opcode, wire::RoceOpcode::write_middle);
  EXPECT_EQ(bth_of(packets[2]).opcode, wire::RoceOpcode::write_last_immediate);
  // Sequence numbers wrap.
  EXPECT_EQ(bth_of(packets[0]).psn.value(), 0xfffffeu);
  EXPECT_EQ(bth_of(packets[2]).psn.value(), 0u);
  EXPECT_EQ(bth_of(packets[2]).acknowledge, wire::BthHeader::acknowledge_bit);
  EXPECT_EQ(wire::parse_roce(packets[0]).reth->length.value(), 3 * mtu - 8);
  for (auto& packet : packets) {
    deliver(packet);
  }
  expect_written(3 * mtu - 8, 512);
  answer_all();
  EXPECT_TRUE(requester_.idle());
  EXPECT_EQ(requester_.acknowledged(), 1u);
  EXPECT_EQ(requester_.deadline(), never);
}

TEST_F(RoceConnection, AShortWriteIsOnePacket) {
  post(40);
  auto packets = requests();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(bth_of(packets[0]).opcode, wire::RoceOpcode::write_only_immediate);
  deliver(packets[0]);
  expect_written(40);
}

TEST_F(RoceConnection, AllThatComesTogetherIsAcknowledgedOnce) {
  for (std::uint32_t i = 0; i < 5; ++i) {
    post(40, 64 * i, i);
  }
  for (auto& packet : requests()) {
    deliver(packet);
  }
  const auto answers = replies();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(parse_reply(answers[0])->psn, wire::psn_add(0xfffffe, 4));
  answer(answers[0]);
  EXPECT_EQ(requester_.acknowledged(), 5u);
}

TEST_F(RoceConnection, WhatIsMissingIsSaidOnceAndAllFromThereComesAgain) {
  post(5 * mtu);
  auto packets = requests();
  deliver(packets[0]);
  deliver(packets[2]);
  deliver(packets[3]);
  const auto answers = replies();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(parse_reply(answers[0])->aeth.syndrome, wire::AethHeader::nak_sequence_error);
  EXPECT_EQ(parse_reply(answers[0])->psn, 0xffffffu);
  deliver(packets[4]);
  EXPECT_TRUE(replies().empty());
  answer(answers[0]);
  // Now there are fewer at a time; the rest follows acknowledgements.
  for (int i = 0; i < 10 && !requester_.idle(); ++i) {
    for (auto& packet : requests()) {
      deliver(packet);
    }
    answer_all();
  }
  EXPECT_TRUE(requester_.idle());
  expect_written(5 * mtu);
  EXPECT_EQ(statistics().retransmissions_sent, 4u);
  EXPECT_EQ(statistics().sequence_errors_received, 1u);
}

TEST_F(RoceConnection, ADuplicateIsAcknowledgedAgainAndChangesNothing) {
  post(40);
  auto packets = requests();
  deliver(packets[0]);
  (void)replies();  // lost
  expect_written(40);
  std::fill(memory_.begin(), memory_.end(), std::byte{1});
  now_ += 100ms;
  requester_.expire(now_);
  auto again = requests();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0], packets[0]);
  deliver(again[0]);
  EXPECT_EQ(memory_[0], std::byte{1});
  EXPECT_FALSE(responder_.next_written());
  answer_all();
  EXPECT_TRUE(requester_.idle());
}

TEST_F(RoceConnection, ATimerAsksWithOnePacketAndBacksOff) {
  post(8 * mtu);
  EXPECT_EQ(requests().size(), 8u);
  auto longest = tuning_.rto.rto_initial;
  auto shortest = longest;
  for (int i = 0; i < 4; ++i) {
    const auto due = requester_.deadline();
    EXPECT_LE(due - now_, longest);
    EXPECT_GE(due - now_, shortest);
    longest = std::min(2 * longest, tuning_.rto.rto_max);
    shortest = longest * 3 / 4;
    now_ = due;
    requester_.expire(now_);
    const auto again = requests();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(bth_of(again[0]).psn.value(), 0xfffffeu);
    EXPECT_EQ(bth_of(again[0]).acknowledge, wire::BthHeader::acknowledge_bit);
  }
  EXPECT_EQ(longest, tuning_.rto.rto_max);
}

// Otherwise they would overflow the same queue for ever.
TEST_F(RoceConnection, RepeatsDoNotStayInStepWithThoseOfOthers) {
  const std::vector<std::byte> bytes(40);
  Requester other({{sender, 0x12}, {receiver, 0x22}}, 7, mtu, tuning_);
  post(40);
  other.post({bytes, 0x7000, 99, 1});
  Outbox outbox(4);
  (void)requests();
  other.poll(outbox, now_);
  EXPECT_EQ(requester_.deadline(), other.deadline());
  now_ = other.deadline();
  requester_.expire(now_);
  other.expire(now_);
  (void)requests();
  other.poll(outbox, now_);
  EXPECT_GT(requester_.deadline(), now_);
  EXPECT_NE(requester_.deadline(), other.deadline());
}

// Packets that were acknowledged meanwhile are not sent again.
TEST_F(RoceConnection, ALateAcknowledgementOfAllEndsTheRetransmission) {
  post(8 * mtu);
  auto packets = requests();
  now_ = requester_.deadline();
  requester_.expire(now_);
  (void)requests();
  for (auto& packet : packets) {
    deliver(packet);
  }
  answer_all();
  EXPECT_TRUE(requester_.idle());
  EXPECT_TRUE(requests().empty());
}

TEST_F(RoceConnection, IsGivenUpInTheEnd) {
  post(40);
  (void)requests();
  for (unsigned i = 0; i <= tuning_.retries_max; ++i) {
    EXPECT_FALSE(requester_.failure());
    now_ = requester_.deadline();
    requester_.expire(now_);
    (void)requests();
  }
  ASSERT_TRUE(requester_.failure());
  EXPECT_NE(requester_.failure()->find("10.0.0.2 did not acknowledge packet 16777214"),
            std::string::npos)
      << *requester_.failure();
}

TEST_F(RoceConnection, AnswersAboutWhatWasNeverSentAreIgnored) {
  post(4 * mtu);
  (void)requests();
  for (const std::uint32_t psn : {0xfffffdu, 2u, 500u}) {
    requester_.take({psn, {}}, now_);
    EXPECT_EQ(requester_.acknowledged(), 0u);
  }
  EXPECT_TRUE(requests().empty());
}

TEST_F(RoceConnection, AReceiverThatIsNotReadyIsGivenTime) {
  post(40);
  (void)requests();
  wire::AethHeader aeth;
  aeth.syndrome = 0x2a;
  requester_.take({0xfffffe, aeth}, now_);
  EXPECT_TRUE(requests().empty());
  now_ = requester_.deadline();
  requester_.expire(now_);
  EXPECT_EQ(requests().size(), 1u);
}

TEST_F(RoceConnection, WritesOutsideTheMemoryAreRefused) {
  for (const auto& [address, key] : {std::pair<std::uint64_t, std::uint32_t>{0x6fff, 99},
                                     {0x7000, 98},
                                     {0x7000 + 8192 - 39, 99},
                                     {0xffffffffffffffff, 99}}) {
    Requester requester(there, 7, mtu, tuning_);
    Responder responder(back, 7, mtu, {memory_, 0x7000, 99}, tuning_);
    const std::vector<std::byte> bytes(40, std::byte{0xee});
    requester.post({bytes, address, key, 1});
    Outbox outbox(4);
    requester.poll(outbox, now_);
    auto packet = take(outbox).at(0);
    responder.take(wire::parse_roce(packet), false, now_);
    responder.poll(outbox);
    const auto reply = parse_reply(take(outbox).at(0));
    ASSERT_TRUE(reply);
    requester.take(*reply, now_);
    ASSERT_TRUE(requester.failure()) << address;
    EXPECT_NE(requester.failure()->find("remote access error"), std::string::npos);
  }
  EXPECT_EQ(memory_, std::vector<std::byte>(8192));
}

TEST_F(RoceConnection, AMiddleWithoutAFirstIsRefused) {
  post(3 * mtu);
  auto packets = requests();
  wire::BthHeader bth = bth_of(packets[1]);
  bth.psn = 0xfffffe;
  std::memcpy(packets[1].data(), &bth, sizeof bth);
  responder_.take(wire::parse_roce(packets[1]), false, now_);
  const auto answers = replies();
  ASSERT_EQ(answers.size(), 1u);
  answer(answers[0]);
  ASSERT_TRUE(requester_.failure());
  EXPECT_NE(requester_.failure()->find("invalid request"), std::string::npos);
}

TEST_F(RoceConnection, MarkedPacketsAreAnsweredWithANotificationAndFewerAreSent) {
  post(32 * mtu - 8, 0, 1);
  auto packets = requests();
  EXPECT_EQ(packets.size(), 32u);
  deliver(packets[0], true);
  deliver(packets[1], true);
  const auto answers = replies();
  const auto notification = std::find_if(answers.begin(), answers.end(), [](const Packet& answer) {
    return bth_of(answer).opcode == congestion_notification;
  });
  ASSERT_NE(notification, answers.end());
  EXPECT_EQ(bth_of(*notification).congestion, 0x40);
  EXPECT_TRUE(has_right_icrc(*notification, receiver, there));
  EXPECT_EQ(statistics().congestion_notifications_sent, 1u) << "for both";
  requester_.take_congestion_notification(now_);
  for (std::size_t i = 2; i < packets.size(); ++i) {
    deliver(packets[i]);
  }
  answer_all();
  for (std::uint32_t i = 0; i < 64; ++i) {
    post(40, 0, i);
  }
  EXPECT_LT(requests().size(), 32u);
}

TEST_F(RoceConnection, ANotificationThatComesWhenAllHasArrivedSlowsNothingDown) {
  requester_.take_congestion_notification(now_);
  post(32 * mtu - 8);
  EXPECT_EQ(requests().size(), 32u);
}

// Frames of Linux's Soft-RoCE, whose IPv4 headers have identifications: what is behind the UDP
// header of an acknowledgement from 10.0.0.1, port 0xc121.
constexpr std::string_view captured = "1100ffff00000011008f98e81f00000165adbb47";
constexpr Endpoint soft_roce{wire::Ipv4Address(10, 0, 0, 1), 0xc121};

Packet captured_packet() {
  Packet packet;
  for (std::size_t i = 0; i < captured.size(); i += 2) {
    packet.push_back(
        static_cast<std::byte>(std::stoul(std::string(captured.substr(i, 2)), nullptr, 16)));
  }
  return packet;
}

TEST(RoceIcrcOfAPeer, IsJudgedWithoutTheIdentification) {
  const auto packet = captured_packet();
  Path path{{receiver, 0x11}, {soft_roce, 0x11, true}};
  EXPECT_TRUE(has_right_icrc(packet, soft_roce, path));
  path.there.numbers_packets = false;
  EXPECT_FALSE(has_right_icrc(packet, soft_roce, path));
}

TEST(RoceIcrcOfAPeer, StillTellsWhatIsDamaged) {
  const Path path{{receiver, 0x11}, {soft_roce, 0x11, true}};
  const auto packet = captured_packet();
  for (std::size_t at = 0; at < packet.size(); ++at) {
    auto damaged = packet;
    damaged[at] ^= std::byte{4};
    const bool masked = at == 4;  // FECN, BECN
    EXPECT_EQ(has_right_icrc(damaged, soft_roce, path), masked) << at;
  }
  EXPECT_FALSE(has_right_icrc(packet, sender, path)) << "another port";
}

TEST(RoceReply, IsThatOfSoftRoce) {
  const auto reply = parse_reply(captured_packet());
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->psn, 0x8f98e8u);
  EXPECT_EQ(reply->aeth.syndrome, 0x1f);
  EXPECT_EQ(reply->aeth.msn.value(), 1u);
  auto packet = captured_packet();
  for (std::size_t length = 0; length < packet.size(); ++length) {
    EXPECT_FALSE(parse_reply(wire::Bytes(packet).first(length)));
  }
}

}  // namespace
}  // namespace tributary::host::roce::test
