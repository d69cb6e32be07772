// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine.h"
#include "packet/pool.h"
#include "support/engine_harness.h"
#include "wire/ethernet.h"

namespace tributary::test {

inline bool is_same(const Packet& a, const Packet& b) {
  return a.length == b.length && a.ingress == b.ingress && a.over_ipv6 == b.over_ipv6 &&
         std::memcmp(a.data(), b.data(), a.length) == 0;
}
inline bool is_same(const Sent& a, const Sent& b) {
  return is_same(*a.packet, *b.packet) && a.port == b.port && a.received == b.received &&
         a.towards == b.towards;
}

// Changes a bit of a frame, mostly in the first `headers` bytes behind its Ethernet header, and
// seals it again or not; or shortens it. `below` draws a number below the one that it is given.
template <typename Below, typename Reseal>
void spoil(Packet& packet, std::size_t headers, Below below, Reseal reseal) {
  constexpr std::uint32_t ethernet = sizeof(wire::EthernetHeader);
  const auto looked_at = std::min(packet.length - ethernet, static_cast<std::uint32_t>(headers));
  const auto at = below(4) == 0 ? below(packet.length) : ethernet + below(looked_at);
  packet.data()[at] ^= std::byte(1u << below(8));
  if (below(3) != 0) {
    reseal(packet);
  }
  if (below(20) == 0) {
    packet.length -= below(packet.length);
  }
}

// Two engines that are given the same packets, one of which has a lane for those that are expected.
// They have to decide the same, down to the bytes of what they send.
template <typename Engine>
class LanePair {
 public:
  template <typename Config>
  LanePair(const Config& config, engine::SwitchIdentity self, unsigned cores = 1)
      : general(config, with_cores(self, cores), Engine::Lane::off),
        express(config, with_cores(self, cores), Engine::Lane::on) {}

  // Null packets are left out.
  void process(const std::vector<PacketPtr>& burst, Time now) {
    general.sent = general.harness.process(general.copies_of(burst), now);
    express.sent = express.harness.process(express.copies_of(burst), now);
    expect_alike();
  }
  void gather(const Packet& packet, Time now) {
    general.sent = general.harness.gather(general.pool.clone(packet), now);
    express.sent = express.harness.gather(express.pool.clone(packet), now);
    expect_alike();
  }
  void expire(Time now) {
    general.sent = general.harness.expire(now);
    express.sent = express.harness.expire(now);
    expect_alike();
  }

  void expect_figures_alike() {
    for (const auto& figure : general.engine.figures()) {
      EXPECT_EQ(express.harness.figure(figure.name), figure.value) << figure.name;
    }
    const auto trees = general.engine.trees();
    const auto of_express = express.engine.trees();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      for (const auto& figure : trees[i].figures) {
        EXPECT_EQ(figure_of(of_express[i], figure.name), figure.value) << figure.name;
      }
    }
    EXPECT_TRUE(express.harness.ledger.balanced());
  }
  std::uint64_t figure(std::string_view name) const { return general.harness.figure(name); }
  // Returns a figure of the first tree.
  std::uint64_t tree_figure(std::string_view name) const {
    return figure_of(general.engine.trees().front(), name);
  }
  const Ledger& ledger() const { return general.harness.ledger; }

 private:
  // An engine, and what it decided last.
  struct Machine {
    template <typename Config>
    Machine(const Config& config, const engine::SwitchIdentity& self, typename Engine::Lane lane)
        : engine(config, self, pool, lane), harness(engine, self.cores) {}

    std::vector<PacketPtr> copies_of(const std::vector<PacketPtr>& packets) {
      std::vector<PacketPtr> copies;
      for (const auto& packet : packets) {
        if (packet != nullptr) {
          copies.push_back(pool.clone(*packet));
        }
      }
      return copies;
    }
    std::vector<PacketPtr> for_other_cores() {
      auto all = harness.passed_on();
      auto sums = harness.partial_sums();
      std::move(sums.begin(), sums.end(), std::back_inserter(all));
      return all;
    }

    HeapPacketPool pool{2048, 512};
    Engine engine;
    EngineHarness harness;
    std::vector<Sent> sent;
  };

  static engine::SwitchIdentity with_cores(engine::SwitchIdentity self, unsigned cores) {
    self.cores = cores;
    return self;
  }

  void expect_alike() {
    ASSERT_EQ(general.sent.size(), express.sent.size());
    for (std::size_t i = 0; i < general.sent.size(); ++i) {
      ASSERT_TRUE(is_same(general.sent[i], express.sent[i])) << "packet " << i;
    }
    const auto others = general.for_other_cores();
    const auto same = express.for_other_cores();
    ASSERT_EQ(others.size(), same.size());
    for (std::size_t i = 0; i < others.size(); ++i) {
      ASSERT_TRUE(is_same(*others[i], *same[i])) << "packet " << i << " for other cores";
    }
    ASSERT_EQ(general.harness.ledger.drops, express.harness.ledger.drops);
    ASSERT_EQ(general.harness.ledger.losses, express.harness.ledger.losses);
    ASSERT_EQ(general.harness.ledger.absorbed, express.harness.ledger.absorbed);
    const auto trees = general.engine.trees();
    const auto of_express = express.engine.trees();
    for (std::size_t i = 0; i < trees.size(); ++i) {
      ASSERT_EQ(trees[i].used, of_express[i].used) << "tree " << i;
    }
  }

  Machine general;
  Machine express;
};

}  // namespace tributary::test
