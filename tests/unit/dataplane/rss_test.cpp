// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/rss.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>
#include <rte_thash.h>

#include "engine/spreading.h"
#include "protocols/canary/wire.h"
#include "wire/spread.h"

namespace tributary::dataplane {
namespace {

// A card with a redirection table of `entries` that hashes 32-bit words of a packet's headers.
class Card {
 public:
  Card(std::uint32_t entries, std::uint16_t queues) : entries_(entries), queues_(queues) {
    fill_rss_key(key_);
  }
  std::uint16_t queue_of(std::array<std::uint32_t, 3> words) const {
    const auto hash = rte_softrss(words.data(), words.size(), key_.data());
    return rss_queue(hash % entries_, entries_, queues_);
  }

 private:
  std::array<std::uint8_t, 40> key_{};
  std::uint32_t entries_;
  std::uint16_t queues_;
};

std::uint16_t port_of(std::uint64_t key) {
  return wire::source_port_of(key * 0x9e3779b97f4a7c15u);
}

unsigned owner_of(std::uint16_t port, unsigned cores) {
  return engine::core_of_spread(wire::spread(port), cores);
}

TEST(Rss, TheQueueIsThatOfTheOwnerWhereverTheCardHasThePort) {
  for (const std::uint32_t entries : {64u, 128u, 512u, 2048u}) {
    for (const auto cores : std::vector<std::uint16_t>{1, 2, 4, 8, 16, 64}) {
      const Card card(entries, cores);
      for (std::uint64_t key = 0; key < 2000; ++key) {
        const auto port = port_of(key);
        const auto owner = owner_of(port, cores);
        ASSERT_EQ(card.queue_of({std::uint32_t{port} << 16, 0, 0}), owner) << port;
        ASSERT_EQ(card.queue_of({0, 0, std::uint32_t{port} << 16}), owner) << port;
        ASSERT_EQ(card.queue_of({0, port, 0}), owner) << port;
      }
    }
  }
}

// A host takes any free UDP port for a flow.
TEST(Rss, WhatAHostSendsComesToTheOwnerToo) {
  for (const auto cores : std::vector<std::uint16_t>{1, 2, 4, 8, 16, 64}) {
    const Card card(512, cores);
    for (std::uint32_t port = 0xf000; port <= 0xffff; ++port) {
      const auto sent_by = static_cast<std::uint16_t>(port);
      for (std::uint64_t key = 0; key < 40; ++key) {
        if (wire::flow_of(key) == wire::flow_of_port(sent_by)) {
          ASSERT_EQ(card.queue_of({port << 16, 0, 0}), owner_of(wire::source_port_of(key), cores));
        }
      }
    }
  }
}

TEST(Rss, OnlyPortsAtTheBordersMissWhenCoresAreNoPowerOfTwo) {
  for (const auto cores : std::vector<std::uint16_t>{3, 5, 6, 7, 12}) {
    const Card card(512, cores);
    unsigned missed = 0;
    constexpr unsigned keys = 20000;
    for (std::uint64_t key = 0; key < keys; ++key) {
      const auto port = port_of(key);
      missed += card.queue_of({std::uint32_t{port} << 16, 0, 0}) != owner_of(port, cores) ? 1 : 0;
    }
    EXPECT_LE(missed, 2 * keys * cores / 512) << cores;
  }
}

TEST(Rss, BlocksAreSpreadEvenly) {
  for (const unsigned cores : {2u, 3u, 8u, 24u}) {
    std::vector<unsigned> hits(cores);
    constexpr unsigned keys = 48000;
    for (std::uint64_t key = 0; key < keys; ++key) {
      ++hits[owner_of(port_of(key), cores)];
    }
    for (const auto count : hits) {
      EXPECT_NEAR(count, keys / cores, keys / cores / 8) << cores;
    }
  }
}

// The key repeats within an address and within a port.
TEST(Rss, BothDirectionsOfAFlowHaveTheSameQueue) {
  const Card card(512, 8);
  for (std::uint32_t i = 1; i < 1000; ++i) {
    const std::uint32_t here = 0x0a000000 + i * 7919;
    const std::uint32_t there = 0xc0a80000 + i * 104729;
    const std::uint32_t from = 1024 + i * 31;
    const std::uint32_t to = 80 + i % 7;
    ASSERT_EQ(card.queue_of({here, there, (from << 16) | to}),
              card.queue_of({there, here, (to << 16) | from}));
  }
}

// Where a card hashes addresses and both ports, flows that differ little in all of them still get
// different queues.
TEST(Rss, OrdinaryFlowsArePartedByAnyField) {
  const Card card(128, 4);
  for (int field = 0; field < 4; ++field) {
    std::array<unsigned, 4> hits{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::array<std::uint32_t, 3> words = {0x0a010102, 0x0a020102, (40000u << 16) | 80};
      words[field / 2 + (field == 3 ? 1 : 0)] += field == 2 ? i << 16 : i;
      ++hits[card.queue_of(words)];
    }
    for (const auto count : hits) {
      EXPECT_GE(count, 16u) << field;
    }
  }
}

}  // namespace
}  // namespace tributary::dataplane
