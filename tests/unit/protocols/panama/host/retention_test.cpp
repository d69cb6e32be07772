// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/retention.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

namespace tributary::host {
namespace {

constexpr std::uint32_t payload_bytes = 4;

// Keeps so many results of epoch 0, with that cap, in a buffer that is gone afterwards.
void keep_epoch(PanamaRetention& retention, std::uint32_t results, std::uint16_t cap) {
  std::array<std::byte, payload_bytes> buffer{};
  retention.begin(0);
  for (std::uint32_t vid = 0; vid < results; ++vid) {
    PanamaKeptHeader header{};
    header.vid = vid;
    header.wnd_cap = cap;
    header.element_type = wire::ElementType::i32;
    header.elements = std::uint16_t{1};
    retention.keep(header, buffer);
  }
  retention.settle();
}

std::uint32_t found(const PanamaRetention& retention, std::uint32_t results) {
  std::uint32_t count = 0;
  for (std::uint32_t vid = 0; vid < results; ++vid) {
    count += retention.find(0, vid) ? 1 : 0;
  }
  return count;
}

// Whoever is behind may lack an epoch before the latest eight, when others have begun the next one.
TEST(PanamaRetention, KeepsTenEpochs) {
  PanamaRetention retention(6, true, payload_bytes);
  keep_epoch(retention, 1, 2);
  for (std::uint32_t epoch = 1; epoch < wire::panama_epochs_kept; ++epoch) {
    EXPECT_TRUE(retention.find(0, 0)) << epoch;
    retention.begin(epoch);
  }
  EXPECT_TRUE(retention.find(0, 0));
}

// The switch next to this rank may have lowered it, and none that another rank's results passed.
TEST(PanamaRetention, KeepsAWindowHoweverNarrowTheCapIsThatThisRankWasTold) {
  PanamaRetention retention(6, false, payload_bytes);
  keep_epoch(retention, 20, 2);
  EXPECT_EQ(found(retention, 20), 6u);
  EXPECT_TRUE(retention.find(0, 14));
}

TEST(PanamaRetention, KeepsNoMoreThanAWindowWhereSwitchesHaveRoomForMore) {
  PanamaRetention retention(6, false, payload_bytes);
  keep_epoch(retention, 20, 18);
  EXPECT_EQ(found(retention, 20), 6u);
}

TEST(PanamaRetention, KeepsThreeWindowsWhereSomebodyMayBeLeftOut) {
  constexpr std::uint32_t window = wire::panama_kept_min / 2;
  PanamaRetention narrow(window, true, payload_bytes);
  keep_epoch(narrow, 4 * window, 2);
  EXPECT_EQ(found(narrow, 4 * window), 3 * window);
  PanamaRetention wide(window, true, payload_bytes);
  keep_epoch(wide, 4 * window, window + 10);
  EXPECT_EQ(found(wide, 4 * window), 3 * (window + 10));
}

TEST(PanamaRetention, KeepsAsManyAsSwitchesRelyOnWhereWindowsAreNarrow) {
  PanamaRetention retention(2, true, payload_bytes);
  keep_epoch(retention, 2 * wire::panama_kept_min, 2);
  EXPECT_EQ(found(retention, 2 * wire::panama_kept_min), wire::panama_kept_min);
}

}  // namespace
}  // namespace tributary::host
