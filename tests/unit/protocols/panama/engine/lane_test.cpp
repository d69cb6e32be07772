// SPDX-License-Identifier: BSD-3-Clause
// Tests that the lane for expected packets and the general path decide the same for every packet,
// valid or not.
#include "protocols/panama/engine/lane.h"

#include <algorithm>
#include <random>

#include "fixture.h"
#include "support/lane_pair.h"

namespace tributary::panama {
namespace {

constexpr std::uint16_t workers_here = 4;
constexpr std::uint32_t packet_memory = 16;

// Returns a root, a switch below one, or a switch whose sums may lack a worker; in one of two trees
// strangers are known by their address.
TreeConfig tree_of(std::uint32_t seed) {
  auto tree = seed % 3 == 0 ? root_of(workers_here) : leaf_of(workers_here, 2 * workers_here);
  tree.quorum = static_cast<std::uint16_t>(tree.quorum - (seed % 3 == 1 ? 1 : 0));
  if (seed % 2 == 0) {
    for (const auto child : tree.children) {
      tree.child_addresses.push_back(from(tree, child).source);
    }
  }
  return tree;
}

// Draws packets of workers that lose and repeat packets, begin epochs and runs, and packets of
// others.
class Senders {
 public:
  Senders(const TreeConfig& tree, std::uint32_t seed) : tree_(tree), random_(seed) {
    constexpr wire::ElementType types[] = {wire::ElementType::i32, wire::ElementType::f32,
                                           wire::ElementType::bf16};
    type_ = types[seed / 3 % std::size(types)];
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }

  PacketPtr next(PacketPool& pool) {
    const auto rank = static_cast<std::uint16_t>(below(workers_here));
    auto& vid = next_vid_[rank];
    const auto slowest = *std::min_element(std::begin(next_vid_), std::end(next_vid_));
    if (slowest == epoch_vids) {
      begin_epoch();
    }
    auto spec = from(tree_, rank, std::min(vid, epoch_vids - 1));
    spec.type = type_;
    spec.run = run_;
    spec.epoch = epoch_;
    if (below(6) == 0) {
      spec.vid -= std::min(spec.vid, below(8));
      spec.retransmission = below(3) != 0;
      spec.answer = below(4) == 0;
    } else {
      vid += vid < slowest + window ? 1 : 0;
    }
    spec.fin = spec.vid + 1 == epoch_vids;
    vary(spec);
    std::vector<std::byte> payload(wire::element_bytes(type_) *
                                   (below(60) == 0 ? below(20) : elements));
    std::generate(payload.begin(), payload.end(), [this] { return std::byte(random_()); });
    auto packet = test::make_panama(pool, spec, payload);
    if (below(30) == 0) {
      auto& header = *test::panama_header(*packet);
      header.elements = static_cast<std::uint16_t>(elements);
      wire::reseal(header);
    }
    if (below(8) == 0) {
      test::spoil(
          *packet, sizeof(Headers) - sizeof(wire::EthernetHeader),
          [this](std::uint32_t limit) { return below(limit); }, test::reseal_panama);
    }
    return packet;
  }

 private:
  static constexpr std::uint32_t elements = 16;
  static constexpr std::uint32_t epoch_vids = 200;
  static constexpr std::uint32_t window = 3;

  void begin_epoch() {
    ++epoch_;
    run_ += below(3) == 0 ? 1 : 0;
    std::fill(std::begin(next_vid_), std::end(next_vid_), 0);
  }

  void vary(PanamaSpec& spec) {
    spec.retransmission |= below(4) == 0;
    switch (below(120)) {
      case 0:
        return void(spec.ingress = static_cast<PortIndex>(below(self.ports)));
      case 1:
        return void(spec.source = wire::Ipv4Address(10, 9, 9, 9));
      case 2:
        return void(spec.contributions = static_cast<std::uint16_t>(below(4)));
      case 3:
        return void(spec.fin = !spec.fin);
      case 4:
        return void(spec.op = wire::Operator::max);
      case 5:
        return void(spec.tos |= wire::ecn::ce);
      case 6:
        return void(spec.group = group_of(3));
      case 7:
        return void(spec.wnd_cap = static_cast<std::uint16_t>(below(packet_memory)));
      case 8:
        return void(spec.epoch += below(3) - 1);
      case 10:
        return void(spec.present ^= std::uint64_t{1} << below(workers_here + 5));
      case 11:
        return void(spec.present = spec.present != 0 ? 0 : 1);
      case 9:
        return void(spec.kind = static_cast<wire::PanamaKind>(below(5)));
      default:
        break;
    }
    // The switch above answers.
    if (tree_.parent && below(12) == 0) {
      spec = as_result(spec);
      spec.fingerprint = below(2);
    }
  }

  const TreeConfig& tree_;
  std::mt19937 random_;
  wire::ElementType type_;
  std::uint32_t run_ = 1;
  std::uint32_t epoch_ = 0;
  std::uint32_t next_vid_[workers_here] = {};
};

class PanamaLane : public testing::TestWithParam<std::uint32_t> {};

TEST_P(PanamaLane, DecidesAsTheGeneralPath) {
  PanamaConfig config;
  config.packet_memory = packet_memory;
  config.trees = {tree_of(GetParam())};
  HeapPacketPool pool(256, 512);
  test::LanePair<PanamaEngine> engines(config, self);
  Senders senders(config.trees[0], GetParam());
  auto now = Time{} + 1s;
  for (int i = 0; i < 3000; ++i) {
    now += senders.below(300) == 0 ? 200ms : 20us;
    std::vector<PacketPtr> burst;
    for (auto left = 1 + senders.below(12); left > 0; --left) {
      auto packet = senders.next(pool);
      // The protocol claims no others.
      if (engine::parse_frame(*packet).udp != nullptr) {
        burst.push_back(std::move(packet));
      }
    }
    ASSERT_NO_FATAL_FAILURE(engines.process(burst, now)) << "burst " << i;
    ASSERT_NO_FATAL_FAILURE(engines.expire(now)) << "burst " << i;
  }
  engines.expect_figures_alike();
  // The packets were of all kinds.
  EXPECT_GT(engines.tree_figure("contributions_total"), 300u);
  EXPECT_GT(engines.figure("sums_total"), 50u);
  EXPECT_GT(engines.tree_figure("duplicates_total"), 100u);
  EXPECT_GT(engines.ledger().dropped(), 500u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, PanamaLane, testing::Range(0u, 24u));

TEST(PanamaLocate, AFrameNamesItsTree) {
  HeapPacketPool pool(2, 512);
  TreeTable trees;
  auto& tree = trees.add(std::make_unique<Tree>(root_of(1, 3), self, 2));
  auto packet = test::make_panama(pool, from(tree.config(), 0), Ints{1});
  auto frame = engine::parse_frame(*packet);
  EXPECT_EQ(locate(trees, frame), &tree);
  frame.payload = frame.payload.first(sizeof(wire::PanamaHeader) - 1);
  EXPECT_EQ(locate(trees, frame), nullptr);
  EXPECT_EQ(locate(trees, engine::Frame{}), nullptr);
}

TEST(PanamaRepetition, LooksAtEveryBitThatContributionsShareAndAtNoOther) {
  const wire::PanamaHeader first;
  ASSERT_TRUE(repeats(first, first));
  for (std::size_t bit = 0; bit < 8 * sizeof first; ++bit) {
    const auto byte = bit / 8;
    // Window cap; contributions; rank, fingerprint and CRCs.
    const bool is_own = byte == 6 || byte == 7 || byte == 26 || byte == 27 || byte >= 30;
    auto next = first;
    reinterpret_cast<unsigned char*>(&next)[byte] ^= static_cast<unsigned char>(1u << bit % 8);
    EXPECT_EQ(repeats(next, first), is_own) << "byte " << byte;
  }
}

}  // namespace
}  // namespace tributary::panama
