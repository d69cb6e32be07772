// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "protocols/canary/engine/children.h"
#include "protocols/canary/engine/descriptor_table.h"
#include "protocols/canary/engine/job_table.h"
#include "protocols/canary/engine/slot_fifo.h"
#include "protocols/canary/engine/wide_store.h"

namespace tributary::canary {
namespace {

TEST(SlotFifo, KeepsTheOrderWhenSlotsLeaveTheMiddle) {
  SlotFifo fifo(4);
  EXPECT_EQ(fifo.front(), SlotFifo::none);
  for (const std::uint32_t slot : {2u, 0u, 3u, 1u}) {
    fifo.push(slot);
  }
  fifo.remove(0);
  EXPECT_EQ(fifo.front(), 2u);
  EXPECT_EQ(fifo.next(2), 3u);
  fifo.remove(2);
  fifo.remove(1);
  fifo.push(0);
  EXPECT_EQ(fifo.front(), 3u);
  EXPECT_EQ(fifo.next(3), 0u);
  fifo.remove(3);
  fifo.remove(0);
  EXPECT_EQ(fifo.front(), SlotFifo::none);
}

TEST(ChildrenTable, EndpointIsFoundByAddressAndPortAndOverflowIsTold) {
  ChildrenTable table(2);
  std::uint8_t count = 0;
  const wire::Ipv4Address first(1);
  const auto add = [&](wire::Ipv4Address address, std::uint16_t port) {
    auto* place = table.add(1, count);
    if (place != nullptr) {
      *place = {address, port, 3, {}, 0};
    }
    return place != nullptr;
  };
  EXPECT_EQ(table.find(1, count, first, 17000), nullptr);
  EXPECT_TRUE(add(first, 17000));
  ASSERT_NE(table.find(1, count, first, 17000), nullptr);
  EXPECT_EQ(table.find(1, count, first, 17000)->port, 3u);
  EXPECT_EQ(table.find(1, count, first, 17001), nullptr);
  for (std::uint32_t i = 2; i <= ChildrenTable::children_max; ++i) {
    EXPECT_TRUE(add(wire::Ipv4Address(i), 17001));
  }
  EXPECT_FALSE(add(wire::Ipv4Address(0), 17001));
  EXPECT_EQ(count, ChildrenTable::children_max);
  EXPECT_EQ(table.of(1, count).size(), ChildrenTable::children_max);
}

TEST(WideStore, HandsOutEveryAccumulatorOnceAndTheLastUsedFirst) {
  WideStore store(3);
  EXPECT_EQ(store.take(), 0u);
  EXPECT_EQ(store.take(), 1u);
  store.give(0);
  EXPECT_EQ(store.take(), 0u);
  EXPECT_EQ(store.take(), 2u);
  EXPECT_EQ(store.at(1) - store.at(0),
            static_cast<std::ptrdiff_t>(WideStore::accumulator_bytes_max));
}

TEST(DescriptorTable, FindsWhatItAllocatedAndNothingElse) {
  DescriptorTable table(8, 1);
  auto* descriptor = table.allocate(5, Time{}, Time{});
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(table.find(5), descriptor);
  EXPECT_EQ(table.find(5 + 8), nullptr) << "same slot, other block";
  table.release(*descriptor);
  EXPECT_EQ(table.find(5), nullptr);
  EXPECT_EQ(table.find(0), nullptr) << "a free slot holds no key";
  EXPECT_EQ(table.in_use(), 0u);
  EXPECT_EQ(table.high_water(), 1u);
}

TEST(DescriptorTable, BlockOutOfItsFirstPlaceIsFoundAsLongAsItIsHeld) {
  DescriptorTable table(8, 1);
  auto* first = table.allocate(5, Time{}, Time{});
  auto* displaced = table.allocate(5 + 8, Time{}, Time{});
  ASSERT_NE(displaced, nullptr);
  ASSERT_NE(displaced, first);
  EXPECT_EQ(table.find(5 + 8), displaced);
  table.release(*first);
  EXPECT_EQ(table.find(5 + 8), displaced);
  EXPECT_EQ(table.find(5), nullptr);
  table.release(*displaced);
  EXPECT_EQ(table.find(5 + 8), nullptr);
  EXPECT_EQ(table.allocate(5 + 8, Time{}, Time{}), first) << "its first place is free";
  EXPECT_EQ(table.find(5 + 8), first);
}

TEST(DescriptorTable, NothingIsLeftOfTheBlockBefore) {
  DescriptorTable table(8, 1);
  auto* block = table.allocate(5, Time{}, Time{});
  block->answered = true;
  block->children = 3;
  block->passed = 2;
  block->wide = 1;
  table.release(*block);
  ASSERT_EQ(table.allocate(5, Time{}, Time{}), block);
  EXPECT_EQ(block->state, Descriptor::State::gathering);
  EXPECT_FALSE(block->answered);
  EXPECT_EQ(block->children, 0u);
  EXPECT_EQ(block->passed, 0u);
  EXPECT_EQ(block->wide, WideStore::none);
}

TEST(DescriptorTable, SizeIsAPowerOfTwo) {
  EXPECT_EQ(DescriptorTable(0, 1).size(), 1u);
  EXPECT_EQ(DescriptorTable(5, 1).size(), 8u);
  EXPECT_EQ(DescriptorTable(4096, 1).size(), 4096u);
}

TEST(DescriptorTable, FirstSlotTakenUsesTheBucket) {
  DescriptorTable table(1024, 99);
  std::uint32_t stored = 0;
  for (std::uint64_t i = 0; i < 512; ++i) {
    stored += table.allocate(wire::mix_key(i + 1, 7), Time{}, Time{}) != nullptr ? 1u : 0u;
  }
  // One choice would lose about 21 % of 512 keys in 1,024 slots, two choices about 8 %.
  EXPECT_GE(stored, 505u);
}

TEST(DescriptorTable, BlocksOfOneJobInFlightNeverCollide) {
  DescriptorTable table(256, 3);
  for (std::uint64_t id = 1000; id < 1256; ++id) {
    EXPECT_NE(table.allocate((std::uint64_t{9} << 32) | id, Time{}, Time{}), nullptr) << id;
  }
}

TEST(DescriptorTable, EverySlotOfATinyTableCanBeUsed) {
  for (const std::uint32_t size : {1u, 2u, 4u}) {
    DescriptorTable table(size, 5);
    for (std::uint64_t key = 1; key <= 100; ++key) {
      table.allocate(key, Time{}, Time{});
    }
    EXPECT_EQ(table.in_use(), size);
  }
}

TEST(DescriptorTable, AllocationOrderIsKeptAndTimersAreInOrderOfExpiry) {
  DescriptorTable table(8, 1);
  const auto at = [](int us) { return Time{std::chrono::microseconds(us)}; };
  auto* first = table.allocate(1, at(0), at(30));
  auto* second = table.allocate(2, at(1), at(20));
  EXPECT_EQ(table.first_due(), second);
  EXPECT_EQ(table.first_expiry(), at(20));
  EXPECT_EQ(table.first(), first);
  EXPECT_EQ(table.after(*first), second);
  table.set_expiry(*second, at(40));
  EXPECT_EQ(table.first_due(), first);
  table.mark_sent(*first);
  EXPECT_EQ(table.first_expiry(), at(40));
  table.release(*second);
  EXPECT_EQ(table.first_due(), nullptr);
  EXPECT_EQ(table.first_expiry(), never);
  EXPECT_EQ(table.after(*first), nullptr);
  table.release(*first);
  EXPECT_EQ(table.first(), nullptr);
}

TEST(JobTable, SilentJobMakesRoomAndBusyOnesStay) {
  JobTable table;
  const auto busy = table.find_or_add(1, 0);
  table.add_descriptor(busy, {});
  table.add_contribution(busy);
  for (std::uint32_t job = 2; job < 5000; ++job) {
    table.find_or_add(job, 0);
  }
  EXPECT_EQ(table.find_or_add(1, 0), busy);
  EXPECT_LE(table.status().size(), JobTable::sets * JobTable::ways);
  EXPECT_EQ(table.untracked_total(), 0u);
}

TEST(JobTable, FloodOfIdsDoesNotDriveOutAJobThatHadResults) {
  JobTable table;
  const auto known = table.find_or_add(1, 0);
  table.add_result(known);
  for (std::uint32_t job = 2; job < 5000; ++job) {
    table.add_bypassed(table.find_or_add(job, 0));
  }
  EXPECT_EQ(table.find_or_add(1, 0), known);
  std::uint64_t results = 0;
  for (const auto& status : table.status()) {
    results += status.results;
  }
  EXPECT_EQ(results, 1u);
}

TEST(JobTable, FullOfBusyJobsLeavesTheNewcomerUncounted) {
  JobTable table;
  std::uint32_t untracked = 0;
  for (std::uint32_t job = 0; job < 5000; ++job) {
    const auto at = table.find_or_add(job, 0);
    untracked += at == JobTable::untracked ? 1u : 0u;
    table.add_descriptor(at, {});
    table.add_contribution(at);
    table.add_result(at);
  }
  EXPECT_EQ(untracked, 5000 - JobTable::sets * JobTable::ways);
  EXPECT_EQ(table.untracked_total(), untracked);
  table.remove_descriptor(JobTable::untracked);
}

// The blocks of one job lie together; they must not fill all the places of another block.
TEST(DescriptorTable, AQuarterInOneRunLeavesRoomForEveryBlock) {
  DescriptorTable table(1024, 1);
  const auto key = [](std::uint64_t job, std::uint32_t id) { return job << 32 | id; };
  for (std::uint32_t id = 0; id < 256; ++id) {
    ASSERT_NE(table.allocate(key(1, id), Time{}, Time{}), nullptr);
  }
  for (std::uint32_t id = 0; id < 4096; ++id) {
    auto* block = table.allocate(key(2 + id % 8, id), Time{}, Time{});
    ASSERT_NE(block, nullptr) << "block " << id;
    table.release(*block);
  }
}

}  // namespace
}  // namespace tributary::canary
