// SPDX-License-Identifier: BSD-3-Clause
// Tests that the lane for expected packets and the general path decide the same for every packet,
// valid or not, on the core that owns its block and on another one.
#include "protocols/flare/engine/lane.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>

#include "fixture.h"
#include "protocols/flare/engine/protocol.h"
#include "support/lane_pair.h"

namespace tributary::flare {
namespace {

constexpr std::uint16_t workers_here = 4;

// Returns a root, or a switch below one; in one of two trees strangers are known by their address.
TreeConfig tree_of(std::uint32_t seed) {
  auto tree = seed % 3 == 0 ? root_of(workers_here) : leaf_of(workers_here, 2 * workers_here);
  tree.reproducible = seed % 5 == 4;
  if (seed % 2 == 0) {
    for (const auto child : tree.children) {
      tree.child_addresses.push_back(from(tree, child).source);
    }
  }
  return tree;
}

// Draws packets of ranks that lose and repeat packets and begin runs, and packets of others.
class Senders {
 public:
  Senders(const TreeConfig& tree, std::uint32_t seed) : tree_(tree), random_(seed) {
    constexpr wire::ElementType types[] = {wire::ElementType::i32, wire::ElementType::f32,
                                           wire::ElementType::bf16};
    type_ = types[seed / 3 % std::size(types)];
  }

  wire::ElementType type() const { return type_; }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  PacketPtr next(PacketPool& pool) {
    const auto rank = static_cast<PortIndex>(below(workers_here));
    auto& block = next_block_[rank];
    const auto slowest = *std::min_element(std::begin(next_block_), std::end(next_block_));
    if (slowest >= blocks_per_run) {
      std::fill(std::begin(next_block_), std::end(next_block_), 0);
      ++run_;
    }
    auto spec = from(tree_, rank, block);
    spec.type = type_;
    spec.run = run_;
    if (below(6) == 0) {
      spec.block -= std::min<std::uint64_t>(spec.block, below(8));
      spec.retransmission = below(3) != 0;
      spec.answer = below(4) == 0;
    } else {
      block += block < slowest + tree_.window - 1 ? 1 : 0;
    }
    vary(spec);
    const bool is_without = spec.kind == FlareKind::inquiry || spec.kind == FlareKind::refusal;
    std::vector<std::byte> payload(
        is_without ? 0 : wire::element_bytes(type_) * (below(60) == 0 ? below(20) : elements));
    std::generate(payload.begin(), payload.end(), [this] { return std::byte(random_()); });
    auto packet = test::make_flare(pool, spec, payload);
    packet->over_ipv6 = below(40) == 0;
    if (below(30) == 0) {
      test::flare_header(*packet)->elements = static_cast<std::uint16_t>(elements);
      test::reseal_flare(*packet);
    }
    if (below(8) == 0) {
      test::spoil(
          *packet, sizeof(Headers) - sizeof(wire::EthernetHeader),
          [this](std::uint32_t limit) { return below(limit); }, test::reseal_flare);
    }
    return packet;
  }

 private:
  static constexpr std::uint32_t elements = 16;
  static constexpr std::uint32_t blocks_per_run = 300;

  void vary(FlareSpec& spec) {
    switch (below(110)) {
      case 0:
        return void(spec.ingress = static_cast<PortIndex>(below(self.ports)));
      case 1:
        return void(spec.source = wire::Ipv4Address(10, 9, 9, 9));
      case 2:
        return void(spec.contributions = static_cast<std::uint16_t>(below(4)));
      case 3:
        return void(spec.op = wire::Operator::max);
      case 4:
        return void(spec.tos |= wire::ecn::ce);
      case 5:
        return void(spec.group = wire::Ipv4Address(239, 192, 0, 3));
      case 6:
        return void(spec.window = static_cast<std::uint16_t>(1 + below(8)));
      case 7:
        return void(spec.run += below(3) - 1);
      case 8:
        return void(spec.kind = static_cast<FlareKind>(1 + below(4)));
      case 9:
        return void(spec.op = wire::handler_operator(0));
      case 10:
        return void(spec.job += 1);
      default:
        break;
    }
    if (tree_.parent && below(12) == 0) {  // the switch above answers
      spec = as_result(spec);
      spec.fingerprint = below(2);
    }
  }

  const TreeConfig& tree_;
  std::mt19937 random_;
  wire::ElementType type_;
  std::uint32_t run_ = 1;
  std::uint64_t next_block_[workers_here] = {};
};

class FlareLane : public testing::TestWithParam<std::uint32_t> {
 protected:
  void start(unsigned cores) {
    config.trees = {tree_of(GetParam())};
    engines.emplace(config, self, cores);
    senders.emplace(config.trees[0], GetParam());
  }

  // Returns a packet that the protocol claims; null if it was drawn otherwise.
  PacketPtr draw() {
    auto packet = senders->next(pool);
    return engine::parse_frame(*packet).udp != nullptr ? std::move(packet) : nullptr;
  }

  FlareConfig config;
  HeapPacketPool pool{256, 512};
  std::optional<test::LanePair<FlareEngine>> engines;
  std::optional<Senders> senders;
  Time now = Time{} + 1s;
};

TEST_P(FlareLane, DecidesAsTheGeneralPath) {
  start(1);
  for (int i = 0; i < 3000; ++i) {
    now += senders->below(300) == 0 ? 200ms : 20us;
    std::vector<PacketPtr> burst;
    for (auto left = 1 + senders->below(12); left > 0; --left) {
      burst.push_back(draw());
    }
    ASSERT_NO_FATAL_FAILURE(engines->process(burst, now)) << "burst " << i;
    ASSERT_NO_FATAL_FAILURE(engines->expire(now)) << "burst " << i;
  }
  engines->expect_figures_alike();
  // The packets were of all kinds.
  EXPECT_GT(engines->figure("contributions_total"), 300u);
  EXPECT_GT(engines->figure("sums_total"), 20u);
  EXPECT_GT(engines->figure("duplicates_total"), 100u);
  EXPECT_GT(engines->ledger().dropped(), 500u);
}

TEST_P(FlareLane, DecidesAsTheGeneralPathForOtherCores) {
  start(2);
  for (int i = 0; i < 10'000; ++i) {
    now += senders->below(300) == 0 ? 200ms : 20us;
    const auto packet = draw();
    if (packet == nullptr || !engine_kind.protocol.may_gather(engine::parse_frame(*packet))) {
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(engines->gather(*packet, now)) << "packet " << i;
    ASSERT_NO_FATAL_FAILURE(engines->expire(now)) << "packet " << i;
  }
  engines->expect_figures_alike();
  // Floats of 16 bits are for the owner, and are not drawn here.
  const bool goes_on = senders->type() != wire::ElementType::bf16;
  EXPECT_EQ(engines->figure("passed_on_total") > 100, goes_on);
  EXPECT_EQ(engines->figure("handed_over_sums_total") > 50,
            goes_on && !config.trees[0].reproducible);
}
INSTANTIATE_TEST_SUITE_P(Seeds, FlareLane, testing::Range(0u, 24u));

TEST(FlareRepetition, LooksAtEveryBitThatContributionsShareAndAtNoOther) {
  const wire::FlareHeader first;
  ASSERT_TRUE(repeats(first, first));
  for (std::size_t bit = 0; bit < 8 * sizeof first; ++bit) {
    const auto byte = bit / 8;
    // That it was sent before; contributions; fingerprint and CRCs.
    const bool is_own = (byte == 16 && bit % 8 == 6) || byte == 22 || byte == 23 || byte >= 28;
    auto next = first;
    reinterpret_cast<unsigned char*>(&next)[byte] ^= static_cast<unsigned char>(1u << bit % 8);
    EXPECT_EQ(repeats(next, first), is_own) << "byte " << byte;
  }
}

}  // namespace
}  // namespace tributary::flare
