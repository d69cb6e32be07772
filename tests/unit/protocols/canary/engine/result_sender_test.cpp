// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/result_sender.h"

#include "fixture.h"
#include "wire/checksum.h"

namespace tributary::canary {
namespace {

Child child(std::uint8_t n) {
  return {wire::Ipv4Address(10, 0, 0, n), static_cast<std::uint16_t>(17010 + n), PortIndex{n},
          wire::MacAddress{{0x02, 0, 0, 0, 0, n}}};
}

class ResultSenderTest : public ::testing::Test {
 protected:
  // Returns the departures when a packet with so many elements goes to these children.
  std::vector<test::Sent> send(const CanarySpec& spec, std::size_t elements,
                               const std::vector<Child>& children) {
    auto packet = test::make_canary(pool_, spec, Ints(elements, 5));
    const auto message = message_of(*packet, spec.encapsulation);
    sender_.send(std::move(packet), message, children, actions_);
    return sent();
  }
  std::vector<test::Sent> sent() {
    std::vector<test::Sent> all;
    while (auto frame = actions_.frames().pop()) {
      const auto port = frame->egress;
      all.push_back({std::move(frame), port, {}, false});
    }
    return all;
  }
  static void expect_for(const Child& to, const test::Sent& sent, std::size_t elements) {
    make_whole(*sent.packet);
    const Seen seen(sent);
    EXPECT_EQ(sent.port, to.port);
    EXPECT_EQ(seen.frame.ethernet->destination, to.mac);
    EXPECT_EQ(seen.header().destination, to.address);
    EXPECT_EQ(seen.header().child_port.value(), to.udp_port);
    EXPECT_EQ(seen.header().kind, wire::CanaryKind::result);
    EXPECT_EQ(seen.elements<std::int32_t>(), Ints(elements, 5));
    if (const auto* ip = seen.frame.ipv4) {
      EXPECT_EQ(ip->destination, to.address);
      EXPECT_EQ(ip->source, self.address);
      EXPECT_EQ(ip->checksum.value(), wire::ipv4_header_checksum(*ip));
      EXPECT_EQ(seen.frame.udp->destination_port.value(), to.udp_port);
    }
  }

  HeapPacketPool pool_{4, 2048};
  Ledger ledger_;
  engine::Actions actions_{ledger_};
  ResultSender sender_{self, pool_};
};

TEST_F(ResultSenderTest, EachChildGetsAFrameOfItsOwn) {
  const std::vector children = {child(1), child(2), child(3)};
  for (const std::size_t elements : {0u, 4u, 256u}) {
    const auto frames = send(as_result(worker(0)), elements, children);
    ASSERT_EQ(frames.size(), 3u);
    for (std::size_t i = 0; i < frames.size(); ++i) {
      expect_for(children[i], frames[i], elements);
    }
  }
  EXPECT_EQ(sender_.copies(), 9u);
  EXPECT_EQ(ledger_.originated, 9u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(ResultSenderTest, FramesWithoutIpAreAddressedToo) {
  auto spec = as_result(worker(0));
  spec.encapsulation = wire::Encapsulation::ethernet;
  std::vector children = {child(1), child(2)};
  children[0].udp_port = children[1].udp_port = 0;
  for (const std::size_t elements : {4u, 256u}) {
    const auto frames = send(spec, elements, children);
    ASSERT_EQ(frames.size(), 2u);
    expect_for(children[0], frames[0], elements);
    expect_for(children[1], frames[1], elements);
  }
}

// The addition to the sum of a header carries, for one of these addresses twice.
TEST_F(ResultSenderTest, IpChecksumIsThatOfAnyAddress) {
  auto to = child(1);
  for (std::uint32_t low = 0; low <= 0xffff; ++low) {
    to.address = wire::Ipv4Address(0xffff0000 | low);
    const auto frames = send(as_result(worker(0)), 1, {to});
    const auto& ip = *engine::parse_frame(*frames.at(0).packet).ipv4;
    ASSERT_EQ(ip.checksum.value(), wire::ipv4_header_checksum(ip)) << low;
  }
}

TEST_F(ResultSenderTest, AnOnlyChildGetsThePacketItself) {
  const auto frames = send(as_result(worker(0)), 256, {child(1)});
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].packet->body, nullptr);
  expect_for(child(1), frames[0], 256);
}

TEST_F(ResultSenderTest, ManyElementsAreNotCopied) {
  const auto frames = send(as_result(worker(0)), 256, {child(1), child(2)});
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_NE(frames[0].packet->body, nullptr);
  EXPECT_EQ(frames[0].packet->body, frames[1].packet->body);
}

TEST_F(ResultSenderTest, ARestorationGoesToItsChildAsAResult) {
  auto spec = as_result(worker(0));
  spec.kind = wire::CanaryKind::restoration;
  auto packet = test::make_canary(pool_, spec, Ints(256, 5));
  const auto message = message_of(*packet, spec.encapsulation);
  const auto to = child(4);
  sender_.send(std::move(packet), message, {&to, 1}, actions_);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1u);
  expect_for(child(4), frames[0], 256);
}

TEST_F(ResultSenderTest, WhatFindsNoBufferIsLost) {
  const std::vector children = {child(1), child(2), child(3), child(4), child(5), child(6)};
  const auto frames = send(as_result(worker(0)), 4, children);
  EXPECT_EQ(frames.size(), 4u) << "as many as there are packets";
  EXPECT_EQ(sender_.copies(), 4u);
  EXPECT_EQ(ledger_.losses[static_cast<std::size_t>(DropReason::no_buffer)], 2u);
  EXPECT_EQ(ledger_.originated, 6u);
}

}  // namespace
}  // namespace tributary::canary
