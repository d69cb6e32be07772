// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/connection_table.h"

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "fixture.h"

namespace tributary::netreduce {
namespace {

// Compares the table with a list that is searched from its beginning: entries that move up into a
// gap are still found.
TEST(NetReduceConnectionTable, finds_what_is_there_after_any_insertions_and_erasures) {
  constexpr std::uint16_t world = 16;
  std::vector<std::unique_ptr<Ring>> rings;
  rings.push_back(std::make_unique<Ring>(ring_of(world)));
  ConnectionTable table;
  table.rebuild(rings);
  std::mt19937 random(1);
  std::vector<std::uint32_t> queue_pairs(world);  // by rank; 0: it has none
  const auto key_of = [](std::uint32_t qp) {
    return ConnectionKey{address_of(0), address_of(1), qp};
  };
  for (int step = 0; step < 20000; ++step) {
    const auto rank = static_cast<std::uint16_t>(random() % world);
    const ConnectionTable::Sender self{rings[0].get(), rank};
    table.erase(key_of(queue_pairs[rank]), self);
    const auto wanted = static_cast<std::uint32_t>(random() % 3 == 0 ? 0 : 1 + random() % 40);
    const auto taken = std::find(queue_pairs.begin(), queue_pairs.end(), wanted);
    queue_pairs[rank] = 0;
    if (wanted != 0 && taken == queue_pairs.end()) {
      queue_pairs[rank] = wanted;
      table.insert(key_of(wanted), self);
    }
    for (std::uint32_t qp = 1; qp <= 40; ++qp) {
      const auto owner = std::find(queue_pairs.begin(), queue_pairs.end(), qp);
      const auto found = table.find(key_of(qp));
      ASSERT_EQ(found.ring != nullptr, owner != queue_pairs.end());
      ASSERT_TRUE(found.ring == nullptr || found.rank == owner - queue_pairs.begin());
    }
  }
}

TEST(NetReduceConnectionTable, erases_nobody_elses) {
  std::vector<std::unique_ptr<Ring>> rings;
  rings.push_back(std::make_unique<Ring>(ring_of(2)));
  ConnectionTable table;
  table.rebuild(rings);
  const ConnectionKey key{address_of(0), address_of(1), 7};
  table.insert(key, {rings[0].get(), 0});
  table.erase(key, {rings[0].get(), 1});
  EXPECT_EQ(table.find(key).ring, rings[0].get());
}

}  // namespace
}  // namespace tributary::netreduce
