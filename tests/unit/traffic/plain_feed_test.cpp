// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_feed.h"

#include <cstddef>

#include <gtest/gtest.h>

#include "support/traffic_bench.h"

namespace tributary::traffic {
namespace {

TEST(FeedPlain, WritesAsManyAsAskedFor) {
  test::Bench bench;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  const auto take = [&](std::size_t, const Packet& frame) {
    ++frames;
    bytes += frame.length;
  };
  feed_plain({*FrameSizes::parse("imix"), {{0, 0}}, 1}, 24, {bench.stations, bench.pool, take});
  EXPECT_EQ(frames, 24u);
  EXPECT_EQ(bytes, 14u * 60 + 8 * 566 + 2 * 1514);
}

}  // namespace
}  // namespace tributary::traffic
