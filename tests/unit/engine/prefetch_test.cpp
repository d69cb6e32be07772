// SPDX-License-Identifier: BSD-3-Clause
#include "engine/prefetch.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "packet/pool.h"

namespace tributary::engine {
namespace {

// A burst whose packets differ in their ingress port.
std::vector<Arrival> burst_of(PacketPool& pool, std::size_t packets) {
  std::vector<Arrival> burst;
  for (std::size_t i = 0; i < packets; ++i) {
    auto packet = pool.allocate();
    packet->ingress = static_cast<PortIndex>(i);
    packet->length = static_cast<std::uint32_t>(i + 1);
    Frame frame;
    frame.payload = packet->bytes();
    burst.push_back({std::move(packet), frame});
  }
  return burst;
}

TEST(HandleAhead, every_packet_is_looked_for_once_and_handled_with_its_place_in_order) {
  HeapPacketPool pool(64, 64);
  for (const std::size_t packets : {0u, 1u, 3u, 6u, 7u, 8u, 9u, 33u}) {
    auto burst = burst_of(pool, packets);
    std::vector<std::size_t> located, fetched, handled;
    handle_ahead(
        burst,
        [&](const Frame& frame) {
          located.push_back(frame.payload.size());
          return frame.payload.size();
        },
        [&](std::size_t place, const Frame& frame) {
          EXPECT_EQ(place, frame.payload.size());
          EXPECT_NE(std::find(located.begin(), located.end(), place), located.end());
          fetched.push_back(place);
        },
        [&](std::size_t place, Arrival& arrival) {
          EXPECT_EQ(place, arrival.packet->ingress + 1u);
          handled.push_back(place);
          arrival.packet.reset();
        });
    std::vector<std::size_t> all(packets);
    for (std::size_t i = 0; i < packets; ++i) {
      all[i] = i + 1;
    }
    EXPECT_EQ(located, all);
    EXPECT_EQ(handled, all);
    all.erase(all.begin(),
              all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(packets, 3)));
    EXPECT_EQ(fetched, all) << "the first are handled before anything could come";
  }
}

}  // namespace
}  // namespace tributary::engine
