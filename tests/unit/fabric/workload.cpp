// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/workload.h"

#include <algorithm>
#include <memory>

#include "protocols/canary/engine/config.h"
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

canary::CanaryConfig canary_of(const Workload& workload, std::optional<Duration> timeout,
                               std::uint64_t seed) {
  canary::CanaryConfig canary;
  canary.timeout = timeout;
  canary.learn_contributions = workload.learn_contributions;
  if (!canary.learn_contributions) {
    canary.timeout_max = canary::CanaryConfig::timeout_max_unlearned;
  }
  canary.hash_seed = seed;
  return canary;
}

FabricSpec bridge_of(const Workload& workload, const canary::CanaryConfig& canary) {
  constexpr unsigned hosts = 4;
  constexpr std::uint32_t network = 10u << 24;
  FabricSpec spec;
  control::SwitchSection section;
  auto& config = section.config;
  config.name = "bridge";
  config.id = 1;
  config.address = wire::Ipv4Address{network + 254};
  config.bridge_address = forwarding::InterfaceAddress{config.address, 24};
  config.protocols.emplace<canary::CanaryConfig>(canary);
  for (unsigned host = 1; host <= hosts; ++host) {
    forwarding::PortConfig port;
    port.name = "h" + std::to_string(host);
    port.queue.rate_bps = workload.rate_bps;
    port.impair_in.jitter = workload.jitter;
    config.ports.push_back(port);
    section.devices.push_back(control::TapDevice{port.name});
    const wire::Ipv4Address address{network + host};
    spec.hosts.push_back({config.name, port.name, address, address});
  }
  spec.switches.push_back(section);
  return spec;
}

FabricSpec tree_of(const Workload& workload, const canary::CanaryConfig& canary) {
  FatTree shape;
  shape.rate_bps = workload.rate_bps;
  shape.canary = canary;
  shape.impair.jitter = workload.jitter;
  shape.impair.loss = workload.loss;
  auto spec = make_fat_tree(shape);
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
  Workload bridged{.name = "2 jobs of 8 MiB, one switch, 50 Mbit/s",
                   .bytes = 8 << 20,
                   .bridge = true,
                   .jobs = 2,
                   .rate_bps = 50'000'000,
                   .jitter = 20us,
                   .learn_contributions = learn_contributions};
  if (learn_contributions) {
    all.push_back(bridged);
  }
  return all;
}

std::optional<Duration> duration_of(const Workload& workload, std::optional<Duration> timeout,
                                    std::uint64_t seed) {
  const auto canary = canary_of(workload, timeout, seed);
  auto spec = workload.bridge ? bridge_of(workload, canary) : tree_of(workload, canary);
  spec.seed = seed;
  VirtualFabric fabric(std::move(spec));
  std::vector<std::unique_ptr<Workers>> jobs;
  for (std::uint32_t job = 1; job <= workload.jobs; ++job) {
    jobs.push_back(std::make_unique<Workers>(
        fabric, Workers::Options{.world_size = static_cast<std::uint32_t>(fabric.host_count()),
                                 .payload_bytes = 1408,
                                 .window = 128,
                                 .job = job,
                                 .udp_port = static_cast<std::uint16_t>(17000 + job),
                                 .seed = seed,
                                 .congestion_control = false}));
  }
  const Time start = fabric.now();
  for (std::size_t i = 0; i < workload.repeats; ++i) {
    for (const auto& workers : jobs) {
      workers->begin(workload.bytes / sizeof(std::int32_t), 60s);
    }
    fabric.run(60s);
    if (!std::all_of(jobs.begin(), jobs.end(), [](const auto& workers) {
          return workers->all_done() && workers->never_wrong();
        })) {
      return std::nullopt;
    }
  }
  return fabric.now() - start;
}

}  // namespace tributary::test
