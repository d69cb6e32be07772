// SPDX-License-Identifier: BSD-3-Clause
#include "property/panama_job.h"

#include <algorithm>

#include "property/seats.h"
#include "protocols/panama/engine/config.h"
#include "support/aggregation_tree.h"

namespace tributary::test {
namespace {

wire::Ipv4Address group_of(std::uint32_t job, std::uint64_t tree) {
  return wire::Ipv4Address{0xefc00000u + job * 256 + static_cast<std::uint32_t>(tree)};
}

std::uint32_t quorum_of(const Shape& shape, std::size_t world) {
  return static_cast<std::uint32_t>(world - std::min<std::uint64_t>(shape.missing, world - 1));
}

}  // namespace

host::PanamaPlan panama_plan(const Shape& shape, std::uint32_t job, std::size_t world) {
  host::PanamaPlan plan;
  for (std::uint64_t tree = 0; tree < shape.panama_trees; ++tree) {
    plan.trees.push_back(group_of(job, tree));
  }
  plan.congestion_control = shape.congestion_control != 0;
  plan.quorum = quorum_of(shape, world);
  plan.window_max = static_cast<std::uint32_t>(shape.window);
  return plan;
}

void set_up_trees(const Shape& shape, FabricSpec& fabric) {
  if (shape.panama == 0) {
    return;
  }
  const auto needed = panama::initial_window * shape.panama * shape.panama_trees;
  const auto memory = static_cast<std::uint32_t>(std::max(shape.packet_memory, needed));
  for (auto& section : fabric.switches) {
    section.config.protocols.emplace<panama::PanamaConfig>({memory, {}});
  }
  constexpr std::uint64_t roots = 1;  // of the streams of a job, after its seats
  for (std::uint32_t job = 0; job < shape.panama; ++job) {
    auto random = stream_of(shape.seed, Stream::trees, job | roots << 16);
    AggregationTree tree;
    tree.job = job_id(job);
    tree.hosts = separate_hosts(shape, job, fabric.hosts.size());
    tree.quorum = static_cast<std::uint16_t>(quorum_of(shape, tree.hosts.size()));
    for (std::uint64_t i = 0; i < shape.panama_trees; ++i) {
      tree.tree = static_cast<std::uint16_t>(i);
      tree.group = group_of(job, i);
      tree.root = draw_root(shape, fabric.switches.size(), random);
      set_up(fabric, tree);
    }
  }
}

}  // namespace tributary::test
