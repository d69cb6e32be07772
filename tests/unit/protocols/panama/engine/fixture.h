// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/engine.h"
#include "support/drop_names.h"
#include "support/engine_harness.h"
#include "support/panama_packets.h"

namespace tributary::panama {

using test::figure_of;
using test::PanamaSpec;
using namespace std::chrono_literals;

inline const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1},
                                         wire::MacAddress{{0x02, 0, 0, 0, 0xff, 0x01}}, 8};
inline constexpr PortIndex parent_port = 7;

inline wire::Ipv4Address group_of(std::uint16_t tree) {
  return {239, 192, 0, static_cast<std::uint8_t>(1 + tree)};
}

// The root of a tree whose workers are behind ports 0, 1, ...
inline TreeConfig root_of(std::uint16_t workers, std::uint16_t tree = 0, std::uint32_t job = 7) {
  TreeConfig config;
  config.job = job;
  config.tree = tree;
  config.group = job == 7 ? group_of(tree)
                          : wire::Ipv4Address(239, 193, static_cast<std::uint8_t>(job),
                                              static_cast<std::uint8_t>(tree));
  for (PortIndex port = 0; port < workers; ++port) {
    config.children.push_back(port);
  }
  config.workers = config.workers_below = config.quorum = workers;
  return config;
}

// A switch with so many of the job's workers below it.
inline TreeConfig leaf_of(std::uint16_t workers_below, std::uint16_t workers,
                          std::uint16_t tree = 0) {
  auto config = root_of(workers_below, tree);
  config.parent = parent_port;
  config.workers = config.quorum = workers;
  return config;
}

// The contribution of worker `n` of a tree.
inline PanamaSpec from(const TreeConfig& tree, PortIndex n, std::uint32_t vid = 0) {
  PanamaSpec spec;
  spec.job = tree.job;
  spec.tree = tree.tree;
  spec.group = tree.group;
  spec.workers = tree.workers;
  spec.rank = n;
  spec.vid = vid;
  spec.ingress = n;
  spec.source = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(n + 1));
  spec.fingerprint = 0x9e3779b97f4a7c15ULL * (n + 1) + vid;
  spec.present = tree.is_partial() ? std::uint64_t{1} << n : 0;
  return spec;
}

// The sum of a switch behind port `n`, with so many of the tree's workers in it, from `first` on.
inline PanamaSpec sum_from(const TreeConfig& tree, PortIndex n, std::uint16_t first,
                           std::uint16_t workers) {
  auto spec = from(tree, n);
  spec.rank = wire::PanamaHeader::no_rank;
  spec.contributions = workers;
  spec.present = spec.present == 0 ? 0 : (~std::uint64_t{0} >> (64 - workers)) << first;
  return spec;
}

// The repeat of a contribution.
inline PanamaSpec again(PanamaSpec spec) {
  spec.retransmission = true;
  return spec;
}

inline PanamaSpec as_result(PanamaSpec spec) {
  spec.kind = wire::PanamaKind::result;
  spec.contributions = spec.workers;
  spec.present = spec.present == 0 ? 0 : ~std::uint64_t{0} >> (64 - spec.workers);
  spec.ingress = parent_port;
  spec.rank = wire::PanamaHeader::no_rank;
  return spec;
}

// The parsed headers and elements of packets that an engine sends.
struct Seen {
  explicit Seen(const test::Sent& sent)
      : frame(engine::parse_frame(*sent.packet)), view(wire::parse_panama(frame.payload)) {
    EXPECT_EQ(view.error, wire::PanamaError::none);
    EXPECT_EQ(wire::ipv4_header_checksum(*frame.ipv4), frame.ipv4->checksum.value());
  }
  template <typename T>
  std::vector<T> elements() const {
    std::vector<T> values(view.payload.size() / sizeof(T));
    std::memcpy(values.data(), view.payload.data(), view.payload.size());
    return values;
  }
  const wire::PanamaHeader& header() const { return *view.header; }
  // The first 64 ranks of its mask.
  std::uint64_t present() const { return view.mask.word(0); }
  bool congested() const { return (frame.ipv4->tos & wire::ecn::mask) == wire::ecn::ce; }

  engine::Frame frame;
  wire::PanamaView view;
};

using Ints = std::vector<std::int32_t>;

// One switch. After every test the ledger balances and, with the engine gone, no packet is out.
class PanamaTest : public ::testing::Test {
 protected:
  void start(std::vector<TreeConfig> trees, std::uint32_t packet_memory = 16) {
    harness.reset();
    config.packet_memory = packet_memory;
    config.trees = std::move(trees);
    engine = std::make_unique<PanamaEngine>(config, self, pool);
    harness = std::make_unique<test::EngineHarness>(*engine);
  }

  void TearDown() override {
    if (harness) {
      EXPECT_TRUE(harness->ledger.balanced());
    }
    harness.reset();
    engine.reset();
    EXPECT_EQ(pool.outstanding(), 0u);
  }

  std::vector<test::Sent> feed(PacketPtr packet) {
    auto sent = harness->process(std::move(packet), now);
    EXPECT_TRUE(harness->ledger.balanced());
    return sent;
  }
  template <typename T>
  std::vector<test::Sent> feed(const PanamaSpec& spec, const std::vector<T>& elements) {
    return feed(test::make_panama(pool, spec, elements));
  }
  std::vector<test::Sent> feed(const PanamaSpec& spec) { return feed(spec, Ints{1}); }
  // The packet must be dropped for `reason` and nothing be sent.
  void expect_drop(const PanamaSpec& spec, DropReason reason) {
    const auto before = harness->drops(reason);
    EXPECT_TRUE(feed(spec).empty());
    EXPECT_EQ(harness->drops(reason), before + 1) << test::name_of(reason);
  }
  // All children of a root or leaf send VID `vid`; returns the departures.
  std::vector<test::Sent> round(const TreeConfig& tree, std::uint32_t vid, bool fin = false,
                                std::uint32_t epoch = 0) {
    std::vector<test::Sent> sent;
    for (const auto child : tree.children) {
      auto spec = from(tree, child, vid);
      spec.fin = fin;
      spec.epoch = epoch;
      sent = feed(spec);
    }
    return sent;
  }
  // The packet comes while there is no buffer for another one.
  std::vector<test::Sent> feed_without_buffers(const PanamaSpec& spec, const Ints& elements) {
    auto packet = test::make_panama(pool, spec, elements);
    std::vector<PacketPtr> all;
    while (auto other = pool.allocate()) {
      all.push_back(std::move(other));
    }
    return feed(std::move(packet));
  }
  std::uint32_t cap_of(const std::vector<test::Sent>& sent) {
    EXPECT_FALSE(sent.empty());
    return sent.empty() ? 0 : Seen(sent[0]).header().wnd_cap.value();
  }

  HeapPacketPool pool{4096, 2048};
  PanamaConfig config;
  std::unique_ptr<PanamaEngine> engine;
  std::unique_ptr<test::EngineHarness> harness;
  Time now = Time{} + 100s;
};

}  // namespace tributary::panama
