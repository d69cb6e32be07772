// SPDX-License-Identifier: BSD-3-Clause
// Tests a table that is too small, who may use it, and how it is divided (3.2).
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "support/canary_packets.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/accounts.h"
#include "unit/fabric/watch.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

TEST(Resources, SixteenDescriptorsWith256BlocksInFlightEndExactAndAccounted) {
  FatTree shape;
  shape.canary.descriptors = 16;
  shape.canary.hash_seed = 42;
  auto spec = make_fat_tree(shape);
  std::vector<std::string> names;
  for (const auto& section : spec.switches) {
    names.push_back(section.config.name);
  }
  VirtualFabric fabric(std::move(spec));
  Watch watch(fabric);
  Workers workers(fabric, {.window = 256, .congestion_control = false});
  workers.begin(64 * 2000);
  fabric.run(20s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  EXPECT_GE(watch.in_flight_max(), 256u);
  EXPECT_GT(fabric.figure("collisions_total"), 0u);
  EXPECT_GT(fabric.figure("restorations_total"), 0u);
  expect_accounted(fabric);
  for (std::size_t index = 0; index < names.size(); ++index) {
    const auto figures = figures_of(fabric, index);
    EXPECT_EQ(figures.at("contributions_total"), watch.contributions(names[index]));
    EXPECT_LE(figures.at("descriptors_high_water"), 16u);
  }
}

// A stranger's contributions do not reach the job's blocks.
TEST(Resources, AJobIsHeardOnItsPortsOnly) {
  FatTree shape;
  shape.hosts_per_leaf = 3;
  auto spec = make_fat_tree(shape);
  // The ports of leaf 1 are h1, h2, h3, spine1 and spine2. The workers are h1 and h2.
  spec.switches[0].config.protocols.get<canary::CanaryConfig>().jobs = {
      {.job = 1, .ports = {0, 1, 3, 4}}};
  HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
  VirtualFabric fabric(std::move(spec), &pool);
  Workers workers(fabric, {.hosts = {0, 1, 3, 4, 6, 7, 9, 10}});
  constexpr std::size_t stranger = 2;
  for (std::uint32_t id = 0; id < 100; ++id) {
    CanarySpec forged;
    forged.job = 1;
    forged.id = wire::canary_id(id, 0);
    forged.hosts = 8;
    forged.fingerprint = id + 1;
    forged.destination = fabric.endpoint(id % 2).address;
    forged.child_address = fabric.endpoint(stranger).address;
    fabric.at(fabric.now() + id * 1us, [&fabric, &pool, forged] {
      fabric.inject(stranger, make_canary(pool, forged, std::vector<std::int32_t>(64, 1)));
    });
  }
  workers.begin(64 * 200);
  fabric.run(20s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  const auto drops = fabric.ledgers().front().drops;
  EXPECT_EQ(drops[static_cast<std::size_t>(canary::drop::not_allowed)], 100u);
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(workers.machine(rank).statistics().fingerprint_rejections, 0u);
  }
  expect_accounted(fabric);
}

// A worker that is not let in is missed by name, by the deadline.
TEST(Resources, AWorkerOnAnotherPortIsMissedByName) {
  auto spec = make_fat_tree({});
  spec.switches[0].config.protocols.get<canary::CanaryConfig>().jobs = {
      {.job = 1, .ports = {0, 2, 3}}};  // not h2: rank 1
  VirtualFabric fabric(std::move(spec));
  Workers workers(fabric, {});
  workers.begin(64 * 20, 2s);
  fabric.run(20s);
  ASSERT_TRUE(workers.none_running());
  EXPECT_TRUE(workers.never_wrong());
  bool named = false;
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const auto& failure = workers.machine(rank).failure();
    ASSERT_TRUE(failure.has_value()) << "rank " << rank;
    named |= failure->message.find("no contribution of rank 1;") != std::string::npos;
  }
  EXPECT_TRUE(named) << workers.machine(0).failure()->message;
  const auto drops = fabric.ledgers().front().drops;
  EXPECT_GT(drops[static_cast<std::size_t>(canary::drop::not_allowed)], 0u);
  expect_accounted(fabric);
}

// Four jobs in tables of 256.
void run_four_jobs(VirtualFabric& fabric) {
  std::vector<std::unique_ptr<Workers>> jobs;
  for (std::uint32_t job = 1; job <= 4; ++job) {
    jobs.push_back(std::make_unique<Workers>(
        fabric, Workers::Options{.window = 16,
                                 .job = job,
                                 .udp_port = static_cast<std::uint16_t>(17000 + job),
                                 .seed = job}));
    jobs.back()->begin(64 * 1000);
  }
  fabric.run(20s);
  for (const auto& job : jobs) {
    EXPECT_TRUE(job->all_done());
    EXPECT_TRUE(job->never_wrong());
  }
  expect_accounted(fabric);
}

FatTree four_jobs_shape() {
  FatTree shape;
  shape.canary.descriptors = 256;
  shape.canary.job_quota = shape.canary.port_quota = 256;
  shape.canary.timeout = 100us;  // so that nothing waits until it is taken for lost
  shape.canary.hash_seed = 42;
  return shape;
}

TEST(Resources, AWindowThatFitsItsPartitionNeverCollides) {
  auto shape = four_jobs_shape();
  // A rank is at most four windows ahead of its lowest block, and another one at most that far
  // ahead of it: eight windows of 8 are a quarter of the table.
  shape.canary.partitions = 4;
  VirtualFabric fabric(make_fat_tree(shape));
  run_four_jobs(fabric);
  EXPECT_EQ(fabric.figure("collisions_total"), 0u);
  EXPECT_EQ(fabric.figure("partition_none_total"), 0u);
}

TEST(Resources, ASharedTableOfTheSameSizeHasCollisions) {
  VirtualFabric fabric(make_fat_tree(four_jobs_shape()));
  run_four_jobs(fabric);
  EXPECT_GT(fabric.figure("collisions_total"), 0u);
}

// There is one job more than parts: on each switch one job finds all parts taken, and is exact all
// the same.
TEST(Resources, AJobWithoutAPartitionGoesPastTheTable) {
  auto shape = four_jobs_shape();
  shape.canary.partitions = 3;
  VirtualFabric fabric(make_fat_tree(shape));
  run_four_jobs(fabric);
  EXPECT_GT(fabric.figure("partition_none_total"), 0u);
}

}  // namespace
}  // namespace tributary::test
