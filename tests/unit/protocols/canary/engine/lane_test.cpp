// SPDX-License-Identifier: BSD-3-Clause
// Tests that the lane for expected packets and the general path decide the same for every packet,
// valid or not.
#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "fixture.h"
#include "support/lane_pair.h"

namespace tributary::canary {
namespace {

constexpr std::uint32_t blocks_at_once = 12;
constexpr std::uint16_t hosts = 7;

// Draws packets of workers that lose and repeat packets and begin blocks anew, answers of leaders,
// and packets of others.
class Senders {
 public:
  explicit Senders(std::uint32_t seed) : random_(seed) {
    constexpr wire::ElementType types[] = {wire::ElementType::i32, wire::ElementType::f32,
                                           wire::ElementType::bf16};
    type_ = types[seed % std::size(types)];
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  // All of one block say the same of it, unless vary() changes that.
  PacketPtr next(PacketPool& pool) {
    auto spec = worker(static_cast<std::uint8_t>(below(hosts - 1)));
    first_id_ += below(10) == 0 ? 1 : 0;
    spec.id = first_id_ + below(blocks_at_once);
    spec.id -= below(10) == 0 ? std::min(spec.id, below(40)) : 0;
    spec.job = 1 + spec.id % 2;
    spec.hosts = hosts;
    spec.type = type_;
    spec.fingerprint += spec.id;
    spec.encapsulation =
        spec.id % 5 == 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
    if (below(8) == 0) {
      spec = as_result(spec);
    }
    vary(spec);
    std::vector<std::byte> payload(test::is_without_payload(spec.kind)
                                       ? 0
                                       : wire::element_bytes(type_) *
                                             (below(60) == 0 ? below(20) : elements));
    std::generate(payload.begin(), payload.end(), [this] { return std::byte(random_()); });
    auto packet = test::make_canary(pool, spec, payload);
    packet->over_ipv6 = below(60) == 0;
    if (below(8) == 0) {
      test::spoil(
          *packet, 96, [this](std::uint32_t limit) { return below(limit); }, test::reseal);
    }
    return packet;
  }

 private:
  static constexpr std::uint32_t elements = 16;

  void vary(CanarySpec& spec) {
    switch (below(150)) {
      case 0:
        return void(spec.ingress = static_cast<PortIndex>(below(self.ports)));
      case 1:
        return void(spec.ip_source = wire::Ipv4Address(10, 9, 9, 9));
      case 2:
        return void(spec.counter = static_cast<std::uint16_t>(below(2 * hosts)));
      case 3:
        return void(spec.op = wire::Operator::max);
      case 4:
        return void(spec.tos |= wire::ecn::ce);
      case 5:
        return void(spec.congested = true);
      case 6:
        return void(spec.destination = wire::Ipv4Address(10, 0, 0, 98));
      case 7:
        return void(spec.hosts = static_cast<std::uint16_t>(2 + below(hosts)));
      case 8:
        spec.kind = static_cast<wire::CanaryKind>(1 + below(7));
        return void(spec.counter = test::valid_counter(spec.kind, spec.hosts));
      case 9:
        return void(spec.op = wire::handler_operator(0));
      case 10:
        return void(spec.bypass = true);
      case 11:
        return void(spec.udp_port = static_cast<std::uint16_t>(spec.udp_port + below(4)));
      case 12:
        return void(spec.fingerprint += below(3));
      default:
        return;
    }
  }

  std::mt19937 random_;
  wire::ElementType type_;
  std::uint32_t first_id_ = 0;
};

// Returns whether the protocol claims a frame.
bool is_canary(Packet& packet) {
  const auto frame = engine::parse_frame(packet);
  return frame.ethernet != nullptr &&
         (frame.udp != nullptr || frame.ethernet->type.value() == wire::ethertype::canary);
}

class CanaryLane : public testing::TestWithParam<std::uint32_t> {};

TEST_P(CanaryLane, DecidesAsTheGeneralPath) {
  auto config = config_with(256);
  config.age_max = 4ms;
  config.learn_contributions = GetParam() % 2 == 0;
  test::LanePair<CanaryEngine> engines(config, self);
  HeapPacketPool pool(256, 512);
  Senders senders(GetParam());
  auto now = Time{} + 1s;
  for (int i = 0; i < 4000; ++i) {
    now += senders.below(300) == 0 ? 200ms : 20us;
    std::vector<PacketPtr> burst;
    for (auto left = 1 + senders.below(12); left > 0; --left) {
      auto packet = senders.next(pool);
      if (is_canary(*packet)) {
        burst.push_back(std::move(packet));
      }
    }
    ASSERT_NO_FATAL_FAILURE(engines.process(burst, now)) << "burst " << i;
    ASSERT_NO_FATAL_FAILURE(engines.expire(now)) << "burst " << i;
  }
  engines.expect_figures_alike();
  // The packets were of all kinds.
  EXPECT_GT(engines.figure("joined_total"), 1000u);
  EXPECT_GT(engines.figure("stragglers_total"), 50u);
  EXPECT_GT(engines.figure("partial_sums_total"), 100u);
  EXPECT_GT(engines.figure("results_total"), 50u);
  EXPECT_GT(engines.ledger().dropped(), 500u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, CanaryLane, testing::Range(0u, 24u));

}  // namespace
}  // namespace tributary::canary
