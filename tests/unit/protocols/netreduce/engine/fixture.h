// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/netreduce/engine/datagram.h"
#include "protocols/netreduce/engine/engine.h"
#include "protocols/netreduce/engine/protocol.h"
#include "support/engine_harness.h"
#include "support/roce_packets.h"

namespace tributary::netreduce {

constexpr std::uint32_t mtu = 256;

inline wire::Ipv4Address address_of(unsigned rank) {
  return wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(1 + rank));
}

inline RingConfig ring_of(std::uint16_t world, std::uint32_t id = 1) {
  RingConfig ring;
  ring.id = id;
  for (unsigned rank = 0; rank < world; ++rank) {
    ring.members.push_back(address_of(rank));
  }
  ring.window = 2;
  ring.message_packets = 4;
  ring.mtu = mtu;
  return ring;
}

// The elements of a rank's message, which differ by rank, message and place.
inline std::uint32_t element_at(std::uint32_t message, unsigned rank, std::size_t at) {
  return message * 1000003u + (rank + 1) * 10007u * static_cast<std::uint32_t>(at) + rank;
}
inline std::uint64_t tag_of(std::uint32_t message, unsigned rank, std::uint32_t packet) {
  return (std::uint64_t{message} + 1) * 0x9e3779b97f4a7c15 ^ (rank * 0xc2b2ae3d27d4eb4f + packet);
}

// The bytes of a message of i32, with the contributions of `ranks`, behind the header of the
// sender.
inline std::vector<std::byte> message_of(const test::GradientSpec& spec,
                                         std::span<const unsigned> ranks) {
  std::vector<std::byte> bytes(spec.length);
  const auto header = test::ina_of(spec, mtu);
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::size_t at = sizeof header; at < bytes.size(); at += 4) {
    std::uint32_t sum = 0;
    for (const auto rank : ranks) {
      sum += element_at(spec.message, rank, at);
    }
    std::memcpy(bytes.data() + at, &sum, sizeof sum);
  }
  for (std::uint32_t packet = 0; packet < wire::ina_packets(spec.length, mtu); ++packet) {
    const auto bytes_here = wire::ina_payload_bytes(spec.length, mtu, packet);
    std::uint64_t tags = 0;
    for (const auto rank : ranks) {
      tags += tag_of(spec.message, rank, packet);
    }
    wire::store_fingerprint(wire::MutableBytes(bytes).subspan(packet * mtu, bytes_here), tags);
  }
  return bytes;
}
// The message as its rank sends it ...
inline std::vector<std::byte> message_of(const test::GradientSpec& spec) {
  const unsigned own[] = {spec.rank};
  return message_of(spec, own);
}
// ... and as the next rank must receive it.
inline std::vector<std::byte> sum_of(const test::GradientSpec& spec) {
  std::vector<unsigned> all(spec.world);
  std::iota(all.begin(), all.end(), 0u);
  return message_of(spec, all);
}

// An engine with one ring, and packets of it.
class NetReduceTest : public testing::Test {
 protected:
  static constexpr std::uint32_t length = 3 * mtu + 64;  // of a message: 4 packets

  NetReduceTest() : engine_({{ring_of(3)}}), harness_(engine_) {}
  ~NetReduceTest() override { EXPECT_TRUE(harness_.ledger.balanced()); }

  static test::GradientSpec gradient(std::uint16_t rank, std::uint32_t message = 0) {
    test::GradientSpec spec;
    spec.rank = rank;
    spec.world = 3;
    spec.message = message;
    spec.length = length;
    return spec;
  }
  // Message m begins 4 packets behind message m - 1.
  static std::uint32_t psn_of(std::uint16_t rank, std::uint32_t message, std::uint32_t packet) {
    return wire::psn_add(0xfffff0 + rank * 5u, message * 4 + packet);
  }

  PacketPtr make(const test::GradientSpec& spec, std::uint32_t packet, std::uint32_t qp = 0x11) {
    return make(spec, packet, qp, message_of(spec));
  }
  PacketPtr make(const test::GradientSpec& spec, std::uint32_t packet, std::uint32_t qp,
                 wire::Bytes bytes) {
    const auto packets = wire::ina_packets(spec.length, mtu);
    test::RoceSpec roce;
    roce.source = address_of(spec.rank);
    roce.destination = address_of((spec.rank + 1u) % spec.world);
    roce.destination_qp = qp;
    roce.psn = psn_of(spec.rank, spec.message, packet);
    roce.opcode = test::roce_opcode(false, packet == 0, packet + 1 == packets, true);
    roce.length = spec.length;
    roce.ingress = spec.rank;
    return test::make_roce(
        pool_, roce,
        bytes.subspan(packet * mtu, wire::ina_payload_bytes(spec.length, mtu, packet)));
  }
  PacketPtr make(std::uint16_t rank, std::uint32_t message, std::uint32_t packet) {
    return make(gradient(rank, message), packet);
  }

  std::vector<test::Sent> feed(PacketPtr packet) {
    return harness_.process(std::move(packet), now_);
  }
  std::vector<test::Sent> feed(std::uint16_t rank, std::uint32_t message, std::uint32_t packet) {
    return feed(make(rank, message, packet));
  }
  // Feeds a packet of another program's message, from the host of rank 0 to that of rank 1. Returns
  // how many packets come of it.
  std::size_t feed_ordinary(wire::RoceOpcode opcode, std::uint32_t qp, std::size_t bytes) {
    test::RoceSpec spec;
    spec.source = address_of(0);
    spec.destination = address_of(1);
    spec.destination_qp = qp;
    spec.opcode = opcode;
    return feed(test::make_roce(pool_, spec, std::vector<std::byte>(bytes))).size();
  }
  // Feeds all packets of that message, from all ranks.
  void feed_message(std::uint32_t message) {
    for (std::uint32_t packet = 0; packet < 4; ++packet) {
      for (std::uint16_t rank = 0; rank < 3; ++rank) {
        sent_ = feed(rank, message, packet);
      }
      EXPECT_EQ(sent_.size(), 3u);
    }
  }
  std::uint64_t figure(std::string_view name) const { return harness_.figure(name); }

  // Expects that this is, byte for byte, the packet that the rank sent, except for elements,
  // fingerprint word and ICRC.
  void expect_sum(const Packet& packet, const test::GradientSpec& spec, std::uint32_t number,
                  std::uint32_t qp = 0x11) {
    const auto wanted = make(spec, number, qp, sum_of(spec));
    ASSERT_EQ(wanted->length, packet.length);
    EXPECT_EQ(std::memcmp(wanted->data(), packet.data(), packet.length), 0)
        << "rank " << spec.rank << " message " << spec.message << " packet " << number;
  }
  void expect_sum(const Packet& packet, std::uint16_t rank, std::uint32_t message,
                  std::uint32_t number) {
    expect_sum(packet, gradient(rank, message), number);
  }

  HeapPacketPool pool_{512, 2048};
  NetReduceEngine engine_;
  test::EngineHarness harness_;
  Time now_{};
  std::vector<test::Sent> sent_;
};

}  // namespace tributary::netreduce
