// SPDX-License-Identifier: BSD-3-Clause
// What tags cost a rank, in ns per packet: its own, which it gives with a contribution, and those
// of all ranks, by which it checks a result. `one_by_one` adds the tags of all ranks up, as if
// their sum was nothing in particular. Names say PROTOCOL/WHAT/RANKS.
#include <cstddef>
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>

#include "host/job.h"
#include "host/tags.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/host/packets.h"
#include "protocols/flare/host/packets.h"
#include "protocols/netreduce/host/plan.h"
#include "protocols/netreduce/host/tags.h"
#include "protocols/panama/host/packets.h"

namespace tributary::perf {
namespace {

using namespace host;

constexpr JobKey key = {1, 2, 3, 4};

template <typename Tag>
void add(const std::string& name, std::uint32_t ranks, Tag tag) {
  const auto full_name = name + "/" + std::to_string(ranks);
  benchmark::RegisterBenchmark(full_name.c_str(), [=](benchmark::State& state) mutable {
    std::uint32_t packet = 0;
    while (state.KeepRunning()) {
      benchmark::DoNotOptimize(tag(packet++));
    }
  });
}

Job job_of(std::uint32_t ranks) {
  Job job;
  job.key = key;
  job.rank = ranks - 1;
  job.peers.resize(ranks);
  job.payload_bytes = 1408;
  return job;
}

void add_canary(std::uint32_t ranks) {
  constexpr std::size_t elements = 1 << 24;
  constexpr std::size_t implicit_release_max = 0;
  const auto job = job_of(ranks);
  const Call call{Collective::allreduce,
                  {nullptr, nullptr, elements, wire::ElementType::f32, wire::Operator::sum},
                  0};
  const Blocks blocks(call, job, key, 0, implicit_release_max);
  add("canary/give", ranks, [=](std::uint32_t id) { return tag_of(key, id, job.rank); });
  add("canary/check", ranks, [=](std::uint32_t id) { return total_tag(job, blocks, id); });
}

void add_panama(std::uint32_t ranks) {
  const auto place = [](std::uint32_t packet) {
    constexpr std::uint32_t trees = 4;
    return PanamaPlace{.tree = packet % trees, .vid = packet / trees};
  };
  add("panama/give", ranks,
      [=](std::uint32_t packet) { return panama_tag(key, place(packet), ranks - 1); });
  add("panama/check", ranks,
      [=](std::uint32_t packet) { return panama_total_tag(key, place(packet), ranks); });
}

// A message at a time.
template <typename Tags>
auto netreduce(Tags of_message) {
  return [of_message, tags = MessageTags()](std::uint32_t packet) mutable {
    constexpr auto packets = NetReducePlan().message_packets;
    if (packet % packets == 0) {
      tags = of_message(packet / packets);
    }
    return tags.at(packet % packets);
  };
}

void add_netreduce(std::uint32_t ranks) {
  add("netreduce/give", ranks,
      netreduce([=](std::uint32_t message) { return message_tags_of(key, message, ranks - 1); }));
  add("netreduce/check", ranks,
      netreduce([=](std::uint32_t message) { return message_tags_of_all(key, message, ranks); }));
}

void add_flare(std::uint32_t ranks) {
  add("flare/give", ranks, [=](std::uint32_t block) { return flare_tag(key, block, ranks - 1); });
  add("flare/check", ranks,
      [=](std::uint32_t block) { return flare_total_tag(key, block, ranks, wire::Operator::sum); });
}

void add_one_by_one(std::uint32_t ranks) {
  add("one_by_one/check", ranks, [=](std::uint32_t packet) {
    std::uint64_t sum = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      sum += siphash(key, std::uint64_t{packet}, rank);
    }
    return sum;
  });
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  for (const std::uint32_t ranks : {2u, 8u, 64u, 1024u}) {
    tributary::perf::add_canary(ranks);
    tributary::perf::add_panama(ranks);
    tributary::perf::add_netreduce(ranks);
    tributary::perf::add_flare(ranks);
    tributary::perf::add_one_by_one(ranks);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    return 1;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
