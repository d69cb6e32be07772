// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/checks.h"

#include <functional>

#include "fixture.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "wire/checksum.h"

namespace tributary::canary {
namespace {

class Checks : public CanaryTest {
 protected:
  // Expects that a contribution that was changed and, unless told otherwise, sealed again is
  // refused: as the first of its block, and where another has begun the block.
  void expect_refused(const std::function<void(Packet&, wire::CanaryHeader&)>& tamper,
                      DropReason reason, bool sealed = true) {
    expect_drop(tampered(tamper, sealed), reason);
    EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
    feed(test::make_canary(pool, worker(1), Ints{1, 2, 3, 4}));
    expect_drop(tampered(tamper, sealed), reason);
    EXPECT_EQ(harness->figure("contributions_total"), 1u);
    restart(config_with(64));
  }

  PacketPtr tampered(const std::function<void(Packet&, wire::CanaryHeader&)>& tamper, bool sealed) {
    auto packet = test::make_canary(pool, worker(0), Ints{1, 2, 3, 4});
    tamper(*packet, *test::canary_header(*packet));
    if (sealed) {
      test::reseal(*packet);
    }
    return packet;
  }
};

TEST_F(Checks, DamagedBytesAreDropped) {
  expect_refused([](Packet& packet, auto&) { packet.data()[packet.length - 1] ^= std::byte{1}; },
                 drop::crc, false);
  expect_refused([](Packet&, auto& header) { header.id = 99u; }, drop::crc, false);
}

TEST_F(Checks, ImpossibleFieldsAreDropped) {
  const auto malformed = drop::malformed;
  using Header = wire::CanaryHeader;
  expect_refused([](Packet&, Header& h) { h.flags = 1; }, drop::version);
  expect_refused([](Packet&, Header& h) { h.flags |= Header::multicast_bit; }, malformed);
  expect_refused([](Packet&, Header& h) { h.kind = static_cast<wire::CanaryKind>(0); }, malformed);
  expect_refused([](Packet&, Header& h) { h.kind = static_cast<wire::CanaryKind>(9); }, malformed);
  expect_refused([](Packet&, Header& h) { h.counter = std::uint16_t{0}; }, malformed);
  expect_refused([](Packet&, Header& h) { h.counter = std::uint16_t{4}; }, malformed);
  expect_refused([](Packet&, Header& h) { h.hosts = std::uint16_t{0}; }, malformed);
  expect_refused(
      [](Packet&, Header& h) { h.op = static_cast<wire::Operator>(wire::operator_count); },
      malformed);
  expect_refused([](Packet&, Header& h) { h.elements = std::uint16_t{5}; }, drop::truncated);
  expect_refused([](Packet&, Header& h) { h.elements = std::uint16_t{3}; }, drop::oversized);
}

TEST_F(Checks, ChildThatNoResultCouldReachIsRefused) {
  const auto malformed = drop::malformed;
  using Header = wire::CanaryHeader;
  expect_refused([](Packet&, Header& h) { h.child_port = std::uint16_t{53}; }, malformed);
  expect_refused([](Packet&, Header& h) { h.child_port = std::uint16_t{0}; }, malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = wire::Ipv4Address{}; }, malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = wire::Ipv4Address(127, 0, 0, 1); },
                 malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = wire::Ipv4Address(240, 0, 0, 1); },
                 malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = wire::Ipv4Address(224, 0, 0, 1); },
                 malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = wire::Ipv4Address(0xffffffff); },
                 malformed);
  expect_refused([](Packet&, Header& h) { h.child_address = self.address; }, malformed);
  expect_refused([](Packet& p, Header&) { p.data()[6] |= std::byte{1}; },
                 DropReason::source_group_mac);
}

TEST_F(Checks, RoutedToAnotherAddressThanItWasSealedWith) {
  expect_refused([](Packet&, auto& h) { h.destination = wire::Ipv4Address(10, 0, 0, 98); },
                 drop::malformed);
}

TEST_F(Checks, IpOptionsAreRefused) {
  auto plain = test::make_canary(pool, worker(0), Ints{1});
  auto packet = pool.allocate();
  const std::size_t before = 14 + 20;
  std::memcpy(packet->data(), plain->data(), before);
  std::memset(packet->data() + before, 1, 4);  // four no-operation options
  std::memcpy(packet->data() + before + 4, plain->data() + before, plain->length - before);
  packet->length = plain->length + 4;
  packet->ingress = 0;
  auto* ip = reinterpret_cast<wire::Ipv4Header*>(packet->data() + 14);
  ip->version_ihl = 0x46;
  ip->total_length = static_cast<std::uint16_t>(packet->length - 14);
  expect_drop(std::move(packet), drop::malformed);
}

TEST_F(Checks, ContributionToTheSwitchItselfIsNotServed) {
  auto spec = worker(0);
  spec.destination = self.address;
  expect_drop(test::make_canary(pool, spec, Ints{1}), DropReason::local_unserved);
  auto bypassing = as_result(worker(0));
  bypassing.bypass = true;
  expect_drop(test::make_canary(pool, bypassing, Ints{1}), DropReason::local_unserved);
}

// The packet is cut anywhere behind the UDP header, and the outer lengths are right.
TEST_F(Checks, EveryTruncatedLengthIsDropped) {
  const std::uint32_t headers = 14 + 20 + 8;
  const auto whole = test::make_canary(pool, worker(0), Ints{1, 2, 3, 4})->length;
  for (std::uint32_t length = headers; length < whole; ++length) {
    auto packet = test::make_canary(pool, worker(0), Ints{1, 2, 3, 4});
    auto* ip = reinterpret_cast<wire::Ipv4Header*>(packet->data() + 14);
    auto* udp = reinterpret_cast<wire::UdpHeader*>(packet->data() + 34);
    packet->length = length;
    ip->total_length = static_cast<std::uint16_t>(length - 14);
    udp->length = static_cast<std::uint16_t>(length - 34);
    expect_drop(std::move(packet), drop::truncated);
  }
  auto ethernet = worker(0);
  ethernet.encapsulation = wire::Encapsulation::ethernet;
  for (std::uint32_t length = 14; length < 14 + 64 + 16; ++length) {
    auto packet = test::make_canary(pool, ethernet, Ints{1, 2, 3, 4});
    packet->length = length;
    expect_drop(std::move(packet), drop::truncated);
  }
}

// Every byte of the header is set to 0 and to its maximum, and sealed. The packet may be stored,
// passed or dropped, and must not cause a crash.
TEST_F(Checks, EveryHeaderByteAtItsExtremes) {
  for (std::size_t at = 0; at < sizeof(wire::CanaryHeader) - 4; ++at) {
    for (const int value : {0x00, 0x7f, 0x80, 0xff}) {
      for (const auto kind : {wire::CanaryKind::contribution, wire::CanaryKind::result,
                              wire::CanaryKind::restoration}) {
        auto spec = kind == wire::CanaryKind::contribution ? worker(0) : as_result(worker(0));
        spec.kind = kind;
        auto packet = test::make_canary(pool, spec, Ints{1, 2});
        packet->data()[14 + 20 + 8 + at] = static_cast<std::byte>(value);
        test::reseal(*packet);
        feed(std::move(packet));
      }
    }
  }
  EXPECT_EQ(harness->ledger.received, 60u * 4 * 3);
}

}  // namespace
}  // namespace tributary::canary
