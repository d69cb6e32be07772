// SPDX-License-Identifier: BSD-3-Clause
// Tests eight jobs that share a fabric, and a ninth that floods it with ids (3.4).
#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "support/canary_packets.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/accounts.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t rate_bps = 100'000'000;
constexpr std::uint32_t descriptors = 1024;
constexpr std::uint32_t jobs_max = 8;
constexpr std::uint32_t flood_job = 1000;
constexpr std::size_t hosts_per_leaf = 3;  // two workers of every job, and who floods
constexpr std::size_t blocks_each = 300;

enum class Ids : std::uint8_t { of_one_job, of_new_jobs };

// Four hosts, one per leaf, that send contributions to themselves at the rate of their links. They
// use no links of others, and as much of the tables as they get.
class Flood {
 public:
  Flood(VirtualFabric& fabric, HeapPacketPool& pool, Ids ids)
      : fabric_(fabric), pool_(pool), ids_(ids) {
    send();
  }

 private:
  static constexpr std::size_t frame_on_line_bytes = 14 + 28 + 64 + 64 + 24;
  static constexpr Duration gap{frame_on_line_bytes * 8 * 1'000'000'000 / rate_bps};

  void send() {
    for (std::size_t host = hosts_per_leaf - 1; host < fabric_.host_count();
         host += hosts_per_leaf) {
      CanarySpec spec;
      spec.job = flood_job + (ids_ == Ids::of_new_jobs ? sent_ : 0);
      spec.id = wire::canary_id(sent_, 0);
      spec.hosts = 8;
      spec.fingerprint = sent_;
      spec.destination = spec.child_address = fabric_.endpoint(host).address;
      fabric_.inject(host, make_canary(pool_, spec, std::vector<std::int32_t>(16, 1)));
    }
    ++sent_;
    fabric_.at(fabric_.now() + gap, [this] { send(); });
  }

  VirtualFabric& fabric_;
  HeapPacketPool& pool_;
  Ids ids_;
  std::uint32_t sent_ = 1;
};

struct Outcome {
  double seconds = 0;
  std::size_t flood_descriptors_max = 0;  // on any switch
  Figures figures;                        // of all switches
};

std::size_t flood_descriptors(const VirtualFabric& fabric) {
  std::size_t most = 0;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    std::size_t held = 0;
    for (const auto* engine : fabric.engines(index)) {
      for (const auto& block : engine->descriptors(fabric.now(), descriptors)) {
        held += block.job >= flood_job ? 1 : 0;
      }
    }
    most = std::max(most, held);
  }
  return most;
}

void sample_every_millisecond(VirtualFabric& fabric, Outcome& outcome) {
  fabric.at(fabric.now() + 1ms, [&fabric, &outcome] {
    outcome.flood_descriptors_max =
        std::max(outcome.flood_descriptors_max, flood_descriptors(fabric));
    sample_every_millisecond(fabric, outcome);
  });
}

// Runs eight jobs on the same eight hosts at the same time; each must be exact and accounted for.
Outcome run_eight_jobs(std::uint32_t quota, std::optional<Ids> flooded) {
  FatTree shape;
  shape.hosts_per_leaf = hosts_per_leaf;
  shape.rate_bps = rate_bps;
  shape.canary.descriptors = descriptors;
  shape.canary.job_quota = shape.canary.port_quota = quota;
  shape.canary.hash_seed = 42;
  HeapPacketPool pool(65536, VirtualFabric::frame_bytes_max);
  VirtualFabric fabric(make_fat_tree(shape), &pool);
  std::vector<std::unique_ptr<Workers>> jobs;
  for (std::uint32_t job = 1; job <= jobs_max; ++job) {
    jobs.push_back(std::make_unique<Workers>(
        fabric, Workers::Options{.payload_bytes = 1408,
                                 .window = 16,
                                 .job = job,
                                 .udp_port = static_cast<std::uint16_t>(17000 + job),
                                 .seed = job,
                                 .hosts = {0, 1, 3, 4, 6, 7, 9, 10}}));
    jobs.back()->begin(352 * blocks_each);
  }
  Outcome outcome;
  std::optional<Flood> flood;
  if (flooded) {
    flood.emplace(fabric, pool, *flooded);
    sample_every_millisecond(fabric, outcome);
  }
  const Time start = fabric.now();
  fabric.run(20s);
  outcome.seconds = std::chrono::duration<double>(fabric.now() - start).count();
  for (std::uint32_t job = 1; job <= jobs_max; ++job) {
    EXPECT_TRUE(jobs[job - 1]->all_done()) << "job " << job;
    EXPECT_TRUE(jobs[job - 1]->never_wrong()) << "job " << job;
    // Seven contributions to each block, and the completion, come to a first switch. Only of jobs
    // without number is not everyone accounted.
    if (flooded != Ids::of_new_jobs) {
      EXPECT_GE(job_of(fabric, job).contributions, 7 * (blocks_each + 1)) << "job " << job;
    }
  }
  expect_accounted(fabric);
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    for (const auto& [name, value] : figures_of(fabric, index)) {
      outcome.figures[name] += value;
    }
  }
  return outcome;
}

TEST(Tenants, EightJobsAtOnceAreExactAndAccounted) {
  const auto outcome = run_eight_jobs(0, {});
  EXPECT_EQ(outcome.figures.at("quota_job_total"), 0u);
  EXPECT_EQ(outcome.figures.at("quota_port_total"), 0u);
  EXPECT_EQ(outcome.figures.at("jobs_untracked_total"), 0u);
}

class Flooded : public ::testing::TestWithParam<Ids> {};

TEST_P(Flooded, JobsTakeATenthLongerAtMostAndTheFloodStaysWithinItsQuota) {
  const auto quiet = run_eight_jobs(0, {});
  for (const std::uint32_t quota : {0u, 128u}) {
    const auto flooded = run_eight_jobs(quota, GetParam());
    EXPECT_LT(flooded.seconds, 1.1 * quiet.seconds) << "quota " << quota;
    EXPECT_EQ(flooded.flood_descriptors_max, quota == 0 ? descriptors / 4 : quota);
  }
}

TEST_P(Flooded, WithoutQuotasItTakesTheTable) {
  const auto quiet = run_eight_jobs(0, {});
  const auto flooded = run_eight_jobs(descriptors, GetParam());
  EXPECT_GT(flooded.seconds, 1.4 * quiet.seconds);
  EXPECT_GT(flooded.flood_descriptors_max, descriptors * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(Tenants, Flooded, ::testing::Values(Ids::of_one_job, Ids::of_new_jobs),
                         [](const auto& ids) {
                           return ids.param == Ids::of_one_job ? "IdsOfOneJob" : "IdsOfNewJobs";
                         });

}  // namespace
}  // namespace tributary::test
