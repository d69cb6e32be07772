// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/workload.h"

#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t late_rank = 5;

struct Size {
  const char* name;
  std::size_t bytes;
  std::size_t repeats;
};
constexpr Size large{"4 MiB", 4 << 20, 1};
constexpr Size sizes[] = {
    {"8 B", 8, 500}, {"4 KiB", 4 << 10, 500}, {"64 KiB", 64 << 10, 50}, large};

struct Lateness {
  const char* text;
  Duration late;
  Duration late_jitter;
};
constexpr Lateness latenesses[] = {{"", {}, {}},
                                   {", one worker 0.3 ms late", 300us, {}},
                                   {", one worker 3 to 4 ms late", 3ms, 1ms}};

FabricSpec fabric_of(const Workload& workload, std::optional<Duration> timeout,
                     std::uint64_t seed) {
  FatTree shape;
  shape.rate_bps = workload.rate_bps;
  shape.canary.timeout = timeout;
  shape.canary.learn_contributions = workload.learn_contributions;
  shape.canary.hash_seed = seed;
  shape.impair.jitter = workload.jitter;
  shape.impair.loss = workload.loss;
  auto spec = make_fat_tree(shape);
  spec.seed = seed;
  auto& port = spec.switches[late_rank / shape.hosts_per_leaf]
                   .config.ports[late_rank % shape.hosts_per_leaf];
  port.impair_in.delay = workload.late;
  port.impair_in.jitter += workload.late_jitter;
  return spec;
}

}  // namespace

std::vector<Workload> workloads(bool learn_contributions) {
  std::vector<Workload> all;
  for (const auto& size : sizes) {
    for (const auto& [text, late, late_jitter] : latenesses) {
      all.push_back({.name = std::string(size.name) + text,
                     .bytes = size.bytes,
                     .repeats = size.repeats,
                     .late = late,
                     .late_jitter = late_jitter,
                     .learn_contributions = learn_contributions});
    }
  }
  Workload bad_cables{
      .bytes = large.bytes, .repeats = large.repeats, .learn_contributions = learn_contributions};
  bad_cables.name = std::string(large.name) + ", jitter of 1 ms";
  bad_cables.jitter = 1ms;
  all.push_back(bad_cables);
  bad_cables.name = std::string(large.name) + ", 0.5 % loss";
  bad_cables.jitter = {};
  bad_cables.loss = 0.005;
  all.push_back(bad_cables);
  Workload slow{.name = "4 times 1 MiB at 20 Mbit/s",
                .bytes = 1 << 20,
                .repeats = 4,
                .rate_bps = 20'000'000,
                .learn_contributions = learn_contributions};
  all.push_back(slow);
  slow.name += ", jitter of 5 ms";
  slow.jitter = 5ms;
  all.push_back(slow);
  return all;
}

std::optional<Duration> duration_of(const Workload& workload, std::optional<Duration> timeout,
                                    std::uint64_t seed) {
  VirtualFabric fabric(fabric_of(workload, timeout, seed));
  Workers workers(fabric, {.payload_bytes = 1408, .window = 128, .seed = seed});
  const Time start = fabric.now();
  for (std::size_t i = 0; i < workload.repeats; ++i) {
    workers.begin(workload.bytes / sizeof(std::int32_t), 60s);
    fabric.run(60s);
    if (!workers.all_done() || !workers.never_wrong()) {
      return std::nullopt;
    }
  }
  return fabric.now() - start;
}

}  // namespace tributary::test
