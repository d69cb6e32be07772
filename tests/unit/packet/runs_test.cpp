// SPDX-License-Identifier: BSD-3-Clause
#include "packet/runs.h"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "packet/pool.h"

namespace tributary {
namespace {

using Taken = std::vector<std::pair<std::uint32_t, std::vector<std::uint64_t>>>;

class PacketRunsTest : public testing::Test {
 protected:
  PacketRunsTest() { runs_.reserve(4); }
  ~PacketRunsTest() override {
    drain();
    EXPECT_EQ(pool_.outstanding(), 0u);
  }

  PacketPtr numbered(std::uint32_t number) {
    auto packet = pool_.allocate();
    packet->driver_tag = number;
    return packet;
  }
  Taken drain() {
    Taken taken;
    runs_.drain([&](std::uint32_t place, PacketList run) {
      auto& numbers = taken.emplace_back(place, std::vector<std::uint64_t>{}).second;
      while (const auto packet = run.pop()) {
        numbers.push_back(packet->driver_tag);
      }
    });
    return taken;
  }

  HeapPacketPool pool_{16, 64};
  PacketRuns runs_;
};

TEST_F(PacketRunsTest, each_place_has_a_run_in_the_order_in_which_its_packets_came) {
  EXPECT_TRUE(runs_.empty());
  runs_.push(3, numbered(1));
  runs_.push(0, numbered(2));
  runs_.push(3, numbered(3));
  EXPECT_FALSE(runs_.empty());
  EXPECT_EQ(drain(), (Taken{{3, {1, 3}}, {0, {2}}}));
  EXPECT_TRUE(runs_.empty());
  EXPECT_TRUE(drain().empty());
}

TEST_F(PacketRunsTest, a_run_goes_behind_what_is_there) {
  PacketList more;
  more.push(numbered(2));
  more.push(numbered(3));
  runs_.push(1, numbered(1));
  runs_.append(1, std::move(more));
  EXPECT_EQ(drain(), (Taken{{1, {1, 2, 3}}}));
}

TEST_F(PacketRunsTest, what_nobody_keeps_goes_back) {
  runs_.push(1, numbered(1));
  runs_.push(2, numbered(2));
  runs_.drain([](std::uint32_t /*place*/, const PacketList& /*run*/) {});
  EXPECT_TRUE(runs_.empty());
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(PacketRunsTest, more_places_keep_what_is_there) {
  runs_.push(1, numbered(1));
  runs_.reserve(64);
  runs_.push(63, numbered(2));
  runs_.reserve(2);
  EXPECT_EQ(drain(), (Taken{{1, {1}}, {63, {2}}}));
}

}  // namespace
}  // namespace tributary
