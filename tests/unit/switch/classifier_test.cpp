// SPDX-License-Identifier: BSD-3-Clause
#include "switch/classifier.h"

#include <utility>

#include <gtest/gtest.h>

#include "protocols/canary/engine/config.h"
#include "protocols/canary/wire.h"
#include "protocols/engines.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/wire.h"
#include "protocols/list.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/wire.h"
#include "support/frames.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

constexpr unsigned sets = 16;

engine::Settings settings_of(unsigned set) {
  engine::Settings on;
  if ((set & 1u) != 0) {
    on.emplace<canary::CanaryConfig>();
  }
  if ((set & 2u) != 0) {
    on.emplace<panama::PanamaConfig>();
  }
  if ((set & 4u) != 0) {
    on.emplace<netreduce::NetReduceConfig>();
  }
  if ((set & 8u) != 0) {
    on.emplace<flare::FlareConfig>();
  }
  return on;
}

unsigned claim_of(protocols::Row row) {
  return static_cast<unsigned>(row) + 1;
}

// Returns the first claim when the protocols are asked one by one.
unsigned first_claim(const engine::Settings& on, const engine::Frame& frame) {
  const auto kinds = protocols::engines();
  for (unsigned row = 0; row < kinds.size(); ++row) {
    if (on.of(row).has_value() && kinds[row]->protocol.claims(frame)) {
      return row + 1;
    }
  }
  return 0;
}

// Tests every set of protocols and every number that `give` writes into the frame.
template <typename Give>
void expect_first_claims(const engine::Frame& frame, Give&& give) {
  for (unsigned set = 0; set < sets; ++set) {
    const auto on = settings_of(set);
    const switching::Classifier classifier(on);
    for (unsigned number = 0; number <= 0xffff; ++number) {
      give(static_cast<std::uint16_t>(number));
      ASSERT_EQ(unsigned{classifier.claim_on(frame)}, first_claim(on, frame))
          << "protocols " << set << ", number " << number;
    }
  }
}

PacketPtr datagram(PacketPool& pool) {
  auto packet = make_udp(pool, {mac(1), mac(2), Ip(10, 0, 0, 1), Ip(10, 0, 0, 2)}, 5, 6, 64);
  ip_of(*packet).tos = wire::panama_dscp << 2;
  return packet;
}

TEST(Classifier, SaysOfEveryUdpPortWhatItsProtocolSays) {
  HeapPacketPool pool(1, 512);
  const auto packet = datagram(pool);
  const auto frame = engine::parse_frame(*packet);
  ASSERT_NE(frame.udp, nullptr);
  expect_first_claims(frame, [&](std::uint16_t port) { frame.udp->destination_port = port; });
}

TEST(Classifier, SaysOfEveryEthertypeWhatItsProtocolSays) {
  HeapPacketPool pool(1, 512);
  const auto packet = datagram(pool);
  auto frame = engine::parse_frame(*packet);
  frame = {frame.ethernet, nullptr, nullptr, packet->bytes().subspan(sizeof *frame.ethernet)};
  expect_first_claims(frame, [&](std::uint16_t type) { frame.ethernet->type = type; });
}

TEST(Classifier, MayClaimWhatItClaimsAndLittleElse) {
  HeapPacketPool pool(1, 512);
  const auto packet = datagram(pool);
  const auto frame = engine::parse_frame(*packet);
  auto& headers = *reinterpret_cast<switching::UsualHeaders*>(packet->data());
  for (unsigned set = 0; set < sets; ++set) {
    const switching::Classifier classifier(settings_of(set));
    for (unsigned port = 0; port <= 0xffff; ++port) {
      headers.udp.destination_port = static_cast<std::uint16_t>(port);
      const bool known = port == wire::roce_udp_port && (set & 4u) != 0;  // asks for more
      ASSERT_EQ(classifier.may_claim(headers, packet->bytes()),
                known || classifier.claim_on(frame) != 0);
    }
    headers.ipv4.version_ihl = 0x46;
    EXPECT_EQ(classifier.may_claim(headers, packet->bytes()), set != 0)
        << "the port is somewhere else";
    headers.ipv4.version_ihl = 0x45;
    headers.ipv4.protocol = wire::ip_protocol::tcp;
    EXPECT_FALSE(classifier.may_claim(headers, packet->bytes()));
    headers.ipv4.protocol = wire::ip_protocol::udp;
    headers.ethernet.type = wire::ethertype::canary;
    EXPECT_EQ(classifier.may_claim(headers, packet->bytes()), (set & 1u) != 0);
    headers.ethernet.type = wire::ethertype::ipv4;
  }
}

// Tests the look behind a priority tag: what surely is for no engine has a short way.
class ClassifierBehindTags : public testing::Test {
 protected:
  ClassifierBehindTags() {
    frame_ = tagged(datagram(pool_), 5u << wire::vlan_priority_shift);
    headers_ = reinterpret_cast<switching::TaggedUsualHeaders*>(frame_->data());
  }
  bool may_claim(unsigned set) const {
    const switching::Classifier classifier(settings_of(set));
    return classifier.may_claim(*reinterpret_cast<switching::UsualHeaders*>(frame_->data()),
                                frame_->bytes());
  }

  HeapPacketPool pool_{1, 512};
  PacketPtr frame_;
  switching::TaggedUsualHeaders* headers_;
};

TEST_F(ClassifierBehindTags, MayClaimWhatItWouldClaimWithoutTheTag) {
  for (unsigned set = 0; set < sets; ++set) {
    headers_->udp.destination_port = 6;
    EXPECT_FALSE(may_claim(set));
    headers_->udp.destination_port = 17000;
    EXPECT_EQ(may_claim(set), (set & 1u) != 0);
    headers_->ipv4.protocol = wire::ip_protocol::tcp;
    EXPECT_FALSE(may_claim(set));
    headers_->ipv4.protocol = wire::ip_protocol::udp;
  }
}

TEST_F(ClassifierBehindTags, MayClaimWhatItCannotTell) {
  headers_->udp.destination_port = 6;
  headers_->ipv4.version_ihl = 0x46;
  EXPECT_TRUE(may_claim(1)) << "the port is somewhere else";
  headers_->ipv4.version_ihl = 0x45;
  for (const auto& [type, is_known] : {std::pair{wire::ethertype::ipv6, true},
                                       {wire::ethertype::canary, true},
                                       {wire::ethertype::arp, false}}) {
    headers_->link.tag.type = type;
    EXPECT_EQ(may_claim(1), is_known) << type;
    EXPECT_FALSE(may_claim(0)) << type;
  }
  headers_->link.tag.type = wire::ethertype::ipv4;
  frame_->length = sizeof *headers_ - 1;
  EXPECT_TRUE(may_claim(1)) << "it is cut";
}

TEST(Classifier, NamesTheRow) {
  HeapPacketPool pool(1, 512);
  const auto packet = datagram(pool);
  const auto frame = engine::parse_frame(*packet);
  const switching::Classifier classifier(settings_of(sets - 1));
  const auto claim_on = [&](std::uint16_t port) {
    frame.udp->destination_port = port;
    return unsigned{classifier.claim_on(frame)};
  };
  EXPECT_EQ(claim_on(17000), claim_of(protocols::Row::canary));
  EXPECT_EQ(claim_on(wire::panama_udp_port), claim_of(protocols::Row::panama));
  EXPECT_EQ(claim_on(wire::roce_udp_port), claim_of(protocols::Row::netreduce));
  EXPECT_EQ(claim_on(wire::flare_udp_port), claim_of(protocols::Row::flare));
  EXPECT_EQ(claim_on(53), 0u);
  frame.ipv4->tos = 0;
  EXPECT_EQ(claim_on(wire::panama_udp_port), 0u) << "not confirmed";
}

}  // namespace
}  // namespace tributary::test
