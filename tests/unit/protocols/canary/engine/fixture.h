// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/engine.h"
#include "support/canary_packets.h"
#include "support/drop_names.h"
#include "support/engine_harness.h"

namespace tributary::canary {

using test::CanarySpec;
using namespace std::chrono_literals;

inline const engine::SwitchIdentity self{42, wire::Ipv4Address{10, 0, 255, 1},
                                         wire::MacAddress{{0x02, 0, 0, 0, 0xff, 0x01}}, 8};

inline CanaryConfig config_with(std::uint32_t descriptors) {
  CanaryConfig config;
  config.descriptors = descriptors;
  config.timeout = 1ms;
  config.root_timeout = 1ms;
  config.learn_contributions = false;
  config.age_max = 5s;
  config.job_quota = descriptors;
  config.port_quota = descriptors;
  config.hash_seed = 1;
  return config;
}

// One switch. After every test the ledger balances and, with the engine gone, no packet is out.
class CanaryTest : public ::testing::Test {
 protected:
  CanaryTest() { restart(config_with(64)); }

  void restart(const CanaryConfig& config) {
    harness.reset();
    engine = std::make_unique<CanaryEngine>(config, self, pool);
    harness = std::make_unique<test::EngineHarness>(*engine);
  }

  void TearDown() override {
    EXPECT_TRUE(harness->ledger.balanced());
    harness.reset();
    engine.reset();
    EXPECT_EQ(pool.outstanding(), 0u);
  }

  // Feeds one packet; the ledger has to balance afterwards.
  std::vector<test::Sent> feed(PacketPtr packet, Time now = Time{}) {
    auto departures = harness->process(std::move(packet), now);
    EXPECT_TRUE(harness->ledger.balanced());
    return departures;
  }
  template <typename T>
  std::vector<test::Sent> feed(const CanarySpec& spec, const std::vector<T>& elements,
                               Time now = Time{}) {
    return feed(test::make_canary(pool, spec, elements), now);
  }
  // The packet must be dropped for `reason` and leave no trace.
  void expect_drop(PacketPtr packet, DropReason reason, Time now = Time{}) {
    const auto before = harness->drops(reason);
    EXPECT_TRUE(feed(std::move(packet), now).empty());
    EXPECT_EQ(harness->drops(reason), before + 1) << test::name_of(reason);
  }

  HeapPacketPool pool{512, 9216};
  std::unique_ptr<CanaryEngine> engine;
  std::unique_ptr<test::EngineHarness> harness;
};

// Worker number `n` (from 0): an address, a port and a MAC of its own.
inline CanarySpec worker(std::uint8_t n) {
  CanarySpec spec;
  spec.child_address = wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(n + 1));
  spec.child_port = static_cast<std::uint16_t>(17010 + n);
  spec.source_mac.octets[5] = static_cast<std::uint8_t>(n + 1);
  spec.ingress = static_cast<PortIndex>(n % 8);
  spec.rank = n;
  spec.fingerprint = 0x9e3779b97f4a7c15ULL * (n + 1);
  return spec;
}

// A contribution to a block, from worker number `from`.
inline CanarySpec block(std::uint32_t id, std::uint8_t from = 0) {
  auto spec = worker(from);
  spec.id = id;
  return spec;
}

inline CanarySpec as_result(CanarySpec spec) {
  spec.kind = wire::CanaryKind::result;
  spec.counter = spec.hosts;
  spec.destination = self.address;
  spec.child_address = wire::Ipv4Address(10, 0, 0, 99);
  spec.ingress = 7;
  return spec;
}

// The parsed headers and elements of a departure.
struct Seen {
  explicit Seen(const test::Sent& departure)
      : frame(engine::parse_frame(*departure.packet)),
        view(wire::parse_canary(frame.payload, frame.udp != nullptr
                                                   ? wire::Encapsulation::udp
                                                   : wire::Encapsulation::ethernet)) {
    EXPECT_EQ(view.error, wire::CanaryError::none);
  }
  template <typename T>
  std::vector<T> elements() const {
    std::vector<T> values(view.payload.size() / sizeof(T));
    const auto bytes = view.payload.first(values.size() * sizeof(T));
    std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    return values;
  }
  const wire::CanaryHeader& header() const { return *view.header; }

  engine::Frame frame;
  wire::CanaryView view;
};

using Ints = std::vector<std::int32_t>;

}  // namespace tributary::canary
