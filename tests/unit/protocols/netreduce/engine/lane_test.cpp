// SPDX-License-Identifier: BSD-3-Clause
// Tests that the lane for expected packets and the general path decide the same for every packet,
// valid or not.
#include <algorithm>
#include <random>
#include <set>

#include "fixture.h"
#include "support/frames.h"

namespace tributary::netreduce {
namespace {

using Lane = NetReduceEngine::Lane;

// An engine, and what it decided of the last burst.
struct Machine {
  Machine(const NetReduceConfig& config, Lane lane) : engine(config, lane), harness(engine) {}

  void process(std::vector<PacketPtr> packets, Time now) {
    sent = harness.process(std::move(packets), now);
  }

  NetReduceEngine engine;
  test::EngineHarness harness;
  std::vector<test::Sent> sent;
};

bool is_same(const test::Sent& a, const test::Sent& b) {
  return a.packet->length == b.packet->length && a.packet->ingress == b.packet->ingress &&
         a.port == b.port && a.received == b.received && a.towards == b.towards &&
         std::memcmp(a.packet->data(), b.packet->data(), a.packet->length) == 0;
}

// Ranks 0 and 1 of four are behind the switch of the first kind: packets of rank 1 go up, those of
// rank 3 come down. Behind that of the other kind are all. Some rings have room for larger packets.
NetReduceConfig config_of(std::uint32_t seed) {
  auto ring = ring_of(4);
  ring.mtu = seed % 5 < 2 ? 4 * mtu : mtu;  // messages have the smaller one
  if (seed % 2 == 0) {
    ring.local = {ring.members[0], ring.members[1]};
    ring.parent = wire::Ipv4Address(10, 9, 9, 9);
  }
  return {{ring}};
}

// Draws packets of ranks that send, go back and begin anew, damaged packets, and packets of others.
class Senders {
 public:
  explicit Senders(std::uint32_t seed) : random_(seed), is_send_(seed % 3 == 0) {
    constexpr wire::ElementType types[] = {wire::ElementType::i32, wire::ElementType::f32,
                                           wire::ElementType::bf16};
    type_ = types[seed % std::size(types)];
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  PacketPtr next(PacketPool& pool) {
    if (below(800) == 0) {
      run_ += below(4) == 0 ? 0 : 1;
      std::fill(std::begin(place_), std::end(place_), 0);
    }
    const auto rank = static_cast<std::uint16_t>(below(world));
    auto& place = place_[rank];
    const auto slowest = *std::min_element(std::begin(place_), std::end(place_));
    if (below(8) == 0) {  // back into what may be open
      place -= std::min(place, below(5));
    }
    auto packet = make(pool, rank, place);
    // A window of two messages.
    place += place / packets < slowest / packets + 1 ? 1 : 0;
    if (below(5) == 0) {
      spoil(*packet);
    }
    return packet;
  }

 private:
  static constexpr std::uint16_t world = 4;
  static constexpr std::uint32_t packets = 4;
  static constexpr std::uint32_t length = (packets - 1) * mtu + 64;

  PacketPtr make(PacketPool& pool, std::uint16_t rank, std::uint32_t place) {
    const auto message = place / packets;
    const auto number = place % packets;
    test::GradientSpec gradient;
    gradient.run = run_;
    gradient.rank = rank;
    gradient.world = world;
    gradient.message = message;
    gradient.length = length;
    gradient.type = type_;
    std::vector<std::byte> payload(wire::ina_payload_bytes(length, mtu, number));
    std::generate(payload.begin(), payload.end(), [this] { return std::byte(random_()); });
    if (number == 0) {
      const auto header = test::ina_of(gradient, mtu);
      std::memcpy(payload.data(), &header, sizeof header);
    }
    if (below(50) == 0) {
      payload.resize(payload.size() - 8 * (1 + below(3)));
    }
    test::RoceSpec roce;
    roce.source = address_of(rank);
    roce.destination = address_of((rank + 1u) % world);
    roce.destination_qp = 0x11 + (below(100) == 0 ? 1 : 0);
    roce.psn = wire::psn_add(0xffffc0, place);
    roce.opcode =
        test::roce_opcode(is_send_ != (below(50) == 0), number == 0, number + 1 == packets);
    roce.length = length;
    roce.ingress = rank;
    roce.is_v6 = below(100) == 0;
    auto packet = test::make_roce(pool, roce, payload);
    packet->data()[1 + sizeof(wire::EthernetHeader)] = std::byte(below(4));  // ECN
    return packet;
  }

  // Changes a bit of the packet, mostly in the headers, or the length of the headers.
  void spoil(Packet& packet) {
    const auto at = below(4) == 0 ? below(packet.length) : below(14 + 20 + 8 + 12);
    packet.data()[at] ^= std::byte(1u << below(8));
    if (below(3) != 0 && test::roce_of(packet).bth != nullptr) {
      test::reseal_roce(packet);
    }
    if (below(20) == 0) {
      packet.length -= below(packet.length);
    }
  }

  std::mt19937 random_;
  bool is_send_;
  wire::ElementType type_;
  std::uint32_t run_ = 1;
  std::uint32_t place_[world] = {};  // in packets from the run's first one
};

class NetReduceLane : public testing::TestWithParam<std::uint32_t> {};

TEST_P(NetReduceLane, decides_as_the_general_path) {
  HeapPacketPool pool(4096, 512);
  const auto config = config_of(GetParam());
  Machine general(config, Lane::off);
  Machine express(config, Lane::on);
  Senders senders(GetParam());
  auto now = Time{} + std::chrono::seconds(1);
  for (int i = 0; i < 2000; ++i) {
    now += senders.below(500) == 0 ? std::chrono::seconds(130) : std::chrono::seconds(0);
    std::vector<PacketPtr> burst;
    std::vector<PacketPtr> same;
    for (auto left = 1 + senders.below(12); left > 0; --left) {
      burst.push_back(senders.next(pool));
      same.push_back(pool.clone(*burst.back()));
    }
    general.process(std::move(burst), now);
    express.process(std::move(same), now);
    ASSERT_EQ(general.sent.size(), express.sent.size()) << "burst " << i;
    for (std::size_t k = 0; k < general.sent.size(); ++k) {
      ASSERT_TRUE(is_same(general.sent[k], express.sent[k])) << "burst " << i << " packet " << k;
    }
    ASSERT_EQ(general.harness.ledger.drops, express.harness.ledger.drops) << "burst " << i;
    ASSERT_EQ(general.harness.ledger.absorbed, express.harness.ledger.absorbed) << "burst " << i;
    ASSERT_EQ(general.engine.trees()[0].used, express.engine.trees()[0].used) << "burst " << i;
  }
  const auto figures = general.engine.figures();
  for (const auto& figure : figures) {
    EXPECT_EQ(express.harness.figure(figure.name), figure.value) << figure.name;
  }
  // The packets were of all kinds.
  EXPECT_GT(general.harness.figure("sums_total"), 100u);
  EXPECT_GT(general.harness.figure("overwritten_total"), 100u);
  EXPECT_GT(general.harness.figure("answered_total"), 100u);
  EXPECT_GT(general.harness.ledger.dropped(), 100u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetReduceLane, testing::Range(1u, 25u));

TEST(MiddleHeadersOf, only_packets_from_the_middle_with_plain_and_whole_headers) {
  MiddleHeaders headers{};
  headers.bth.opcode = wire::RoceOpcode::send_middle;
  engine::Frame frame;
  frame.payload = {reinterpret_cast<std::byte*>(&headers.bth), sizeof headers.bth};
  EXPECT_EQ(middle_headers_of(frame), nullptr);
  frame.ipv4 = &headers.ipv4;
  EXPECT_EQ(middle_headers_of(frame), nullptr);
  frame.udp = &headers.udp;
  EXPECT_EQ(middle_headers_of(frame), &headers);
  headers.bth.opcode = wire::RoceOpcode::write_last;
  EXPECT_EQ(middle_headers_of(frame), nullptr);
  headers.bth.opcode = wire::RoceOpcode::write_middle;
  frame.payload = frame.payload.first(sizeof headers.bth - 1);
  EXPECT_EQ(middle_headers_of(frame), nullptr);
  frame.payload = {reinterpret_cast<std::byte*>(&headers.bth), sizeof headers.bth};
  headers.ipv4.version_ihl = 0x46;
  EXPECT_EQ(middle_headers_of(frame), nullptr);
}

// Tests the common bytes of the middle packets of a connection, counted from the first byte of the
// IP header.
TEST(MiddlePattern, looks_at_every_bit_that_tells_the_connection_and_at_no_other) {
  std::set<std::size_t> common;
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{12, 20}, {33, 36}}) {
    for (auto byte = first; byte < last; ++byte) {
      common.insert(byte);
    }
  }
  constexpr std::size_t flags = 29;
  constexpr unsigned pad_and_version = 0x3f;
  const MiddleHeaders headers{};
  const MiddlePattern pattern(headers);
  for (std::size_t bit = 0; bit < 8 * sizeof headers; ++bit) {
    auto other = headers;
    reinterpret_cast<unsigned char*>(&other)[bit / 8] ^= static_cast<unsigned char>(1u << bit % 8);
    const bool is_common =
        common.count(bit / 8) == 1 || (bit / 8 == flags && (pad_and_version >> bit % 8 & 1) != 0);
    EXPECT_EQ(MiddlePattern(other) != pattern, is_common) << "byte " << bit / 8;
  }
}

TEST(MiddlePattern, is_that_of_the_connections_packets_and_of_none_over_ipv6) {
  HeapPacketPool pool(4, 512);
  test::RoceSpec spec;
  spec.source = address_of(0);
  spec.destination = address_of(1);
  spec.opcode = wire::RoceOpcode::write_middle;
  const std::vector<std::byte> payload(mtu);
  const auto packet = test::make_roce(pool, spec, payload);
  const auto* headers = middle_headers_of(engine::parse_frame(*packet));
  ASSERT_NE(headers, nullptr);
  const auto key = headers->connection();
  EXPECT_EQ(MiddlePattern::of(key), MiddlePattern(*headers));
  EXPECT_EQ(MiddlePattern::of({key.source, key.destination, ConnectionKey::any_qp}),
            MiddlePattern());
  EXPECT_EQ(MiddlePattern::of({test::ipv6_of(spec.source), test::ipv6_of(spec.destination), 0x11}),
            MiddlePattern());
}

}  // namespace
}  // namespace tributary::netreduce
