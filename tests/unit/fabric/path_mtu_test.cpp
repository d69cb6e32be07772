// SPDX-License-Identifier: BSD-3-Clause
// Tests links between switches that carry smaller packets than the hosts send.
#include <gtest/gtest.h>

#include "host/path_search.h"
#include "host/payload.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t host_count = 8;
constexpr std::uint32_t full_payload = 1408;  // behind 92 bytes of headers: 1500
constexpr std::uint32_t base_payload = 1088;

// Gives this MTU to all links except those of hosts.
FabricSpec with_small_links(std::uint16_t mtu) {
  auto spec = make_fat_tree({});
  for (auto& section : spec.switches) {
    for (std::size_t port = 0; port < section.devices.size(); ++port) {
      if (std::holds_alternative<control::InternalLink>(section.devices[port])) {
        section.config.ports[port].mtu = mtu;
      }
    }
  }
  return spec;
}

// Whether packets of that size, one led by each rank, pass.
bool passes(VirtualFabric& fabric, Workers& workers, std::uint32_t payload_bytes) {
  workers.set_payload(payload_bytes);
  workers.begin(std::size_t{host_count} * payload_bytes / sizeof(std::int32_t), 1s);
  fabric.run(5s);
  return workers.all_done();
}

TEST(PathMtu, RanksFindTheLargestPacketThatPassesAndGoOnWithIt) {
  VirtualFabric fabric(with_small_links(1300));
  Workers workers(fabric, {.world_size = host_count, .payload_bytes = full_payload});
  ASSERT_FALSE(passes(fabric, workers, full_payload));
  host::PathSearch search(base_payload, full_payload, host::payload_granule);
  while (const auto payload_bytes = search.next()) {
    search.note(passes(fabric, workers, *payload_bytes));
  }
  EXPECT_EQ(search.found(), 1184u) << "1276 bytes with all headers; 32 more would be 1308";
  workers.set_payload(search.found());
  workers.begin(100'003);
  fabric.run(10s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  expect_balanced(fabric);
}

TEST(PathMtu, WhereNothingPassesTheSearchEndsWithItsFirstStep) {
  VirtualFabric fabric(with_small_links(1000));
  Workers workers(fabric, {.world_size = host_count, .payload_bytes = full_payload});
  EXPECT_FALSE(passes(fabric, workers, base_payload));
}

}  // namespace
}  // namespace tributary::test
