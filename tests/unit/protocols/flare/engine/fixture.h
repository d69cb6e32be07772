// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "support/drop_names.h"
#include "support/engine_harness.h"
#include "support/flare_packets.h"

namespace tributary::flare {

using test::figure_of;
using test::FlareSpec;
using wire::FlareKind;
using namespace std::chrono_literals;

using Ints = std::vector<std::int32_t>;
using Ports = std::vector<PortIndex>;

inline const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1},
                                         wire::MacAddress{{0x02, 0, 0, 0, 0xff, 0x01}}, 8};
inline constexpr PortIndex parent_port = 7;

// The root of a tree whose ranks are behind ports 0, 1, ...
inline TreeConfig root_of(std::uint16_t workers, std::uint32_t job = 7) {
  TreeConfig config;
  config.job = job;
  config.group = wire::Ipv4Address(239, 192, 0, static_cast<std::uint8_t>(job));
  for (PortIndex port = 0; port < workers; ++port) {
    config.children.push_back(port);
  }
  config.workers = config.workers_below = workers;
  config.window = 4;
  return config;
}

// A switch with so many of the job's ranks below it.
inline TreeConfig leaf_of(std::uint16_t workers_below, std::uint16_t workers) {
  auto config = root_of(workers_below);
  config.parent = parent_port;
  config.workers = workers;
  return config;
}

inline TreeConfig reproducible(TreeConfig config) {
  config.reproducible = true;
  return config;
}

// The contribution of rank `n` of a tree.
inline FlareSpec from(const TreeConfig& tree, PortIndex n, std::uint64_t block = 0) {
  FlareSpec spec;
  spec.job = tree.job;
  spec.group = tree.group;
  spec.workers = tree.workers;
  spec.window = static_cast<std::uint16_t>(tree.window);
  spec.block = block;
  spec.ingress = n;
  spec.source = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(n + 1));
  spec.fingerprint = 0x9e3779b97f4a7c15ULL * (n + 1) + block;
  return spec;
}

// The repeat of a contribution.
inline FlareSpec again(FlareSpec spec) {
  spec.retransmission = true;
  return spec;
}

inline FlareSpec of_run(FlareSpec spec, std::uint32_t run) {
  spec.run = run;
  return spec;
}

// The result of that block, from above or from a child.
inline FlareSpec as_result(FlareSpec spec, PortIndex ingress = parent_port) {
  spec.kind = FlareKind::result;
  spec.contributions = spec.workers;
  spec.ingress = ingress;
  return spec;
}

// An inquiry about that block.
inline FlareSpec about(FlareSpec spec, PortIndex ingress = parent_port) {
  spec.kind = FlareKind::inquiry;
  spec.ingress = ingress;
  return spec;
}

// The parsed headers and elements of packets that an engine sends.
struct Seen {
  explicit Seen(const test::Sent& sent)
      : frame(engine::parse_frame(*sent.packet)), view(wire::parse_flare(frame.payload)) {
    EXPECT_EQ(view.error, wire::FlareError::none);
    EXPECT_EQ(wire::ipv4_header_checksum(*frame.ipv4), frame.ipv4->checksum.value());
  }
  template <typename T>
  std::vector<T> elements() const {
    std::vector<T> values(view.payload.size() / sizeof(T));
    std::copy(view.payload.begin(), view.payload.end(),
              std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  Ints ints() const { return elements<std::int32_t>(); }
  const wire::FlareHeader& header() const { return *view.header; }

  engine::Frame frame;
  wire::FlareView view;
};

// Returns the ports by which packets went, which must all be of that kind.
inline Ports ports_of(const std::vector<test::Sent>& sent, FlareKind kind) {
  Ports ports;
  for (const auto& one : sent) {
    EXPECT_EQ(Seen(one).header().kind, kind);
    ports.push_back(one.port);
  }
  return ports;
}

// One switch. After every test the ledger balances and, with the engine gone, no packet is out.
class FlareTest : public ::testing::Test {
 protected:
  void start(std::vector<TreeConfig> trees) {
    harness.reset();
    config.trees = std::move(trees);
    engine = std::make_unique<FlareEngine>(config, self, pool);
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
  std::vector<test::Sent> feed(const FlareSpec& spec, const std::vector<T>& elements) {
    return feed(test::make_flare(pool, spec, elements));
  }
  std::vector<test::Sent> feed(const FlareSpec& spec) {
    return feed(spec, spec.kind == FlareKind::inquiry ? Ints{} : Ints{1});
  }
  // The packet must be dropped for `reason` and nothing be sent.
  void expect_drop(PacketPtr packet, DropReason reason) {
    const auto before = harness->drops(reason);
    EXPECT_TRUE(feed(std::move(packet)).empty());
    EXPECT_EQ(harness->drops(reason), before + 1) << test::name_of(reason);
  }
  void expect_drop(const FlareSpec& spec, DropReason reason, const Ints& elements = {1}) {
    expect_drop(test::make_flare(pool, spec, elements), reason);
  }
  // All children of a tree contribute to a block; returns the departures.
  std::vector<test::Sent> round(const TreeConfig& tree, std::uint64_t block,
                                std::uint32_t run = 1) {
    std::vector<test::Sent> sent;
    for (const auto child : tree.children) {
      sent = feed(of_run(from(tree, child, block), run));
    }
    return sent;
  }
  // Takes all packets that are left, so that no buffer is free.
  std::vector<PacketPtr> drain() {
    std::vector<PacketPtr> all;
    while (auto packet = pool.allocate()) {
      all.push_back(std::move(packet));
    }
    return all;
  }

  HeapPacketPool pool{1024, 2048};
  FlareConfig config;
  std::unique_ptr<FlareEngine> engine;
  std::unique_ptr<test::EngineHarness> harness;
  Time now = Time{} + 100s;
};

}  // namespace tributary::flare
