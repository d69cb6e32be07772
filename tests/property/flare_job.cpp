// SPDX-License-Identifier: BSD-3-Clause
#include "property/flare_job.h"

#include "property/seats.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/host/sparse_packets.h"
#include "support/reduction_tree.h"

namespace tributary::test {
namespace {

wire::Ipv4Address group_of(std::uint32_t job) {
  return wire::Ipv4Address{0xefd00000u + job};
}

}  // namespace

host::FlarePlan flare_plan(const Shape& shape, std::uint32_t job) {
  return {.group = group_of(job),
          .window = static_cast<std::uint32_t>(shape.flare_window),
          .sparse_window = static_cast<std::uint32_t>(shape.sparse_window)};
}

bool has_sparse_calls(const Shape& shape) {
  return shape.sparse_window != 0 &&
         host::flare_sparse_full(static_cast<std::uint32_t>(shape.payload)) != 0;
}

void set_up_reduction_trees(const Shape& shape, FabricSpec& fabric) {
  if (shape.flare == 0) {
    return;
  }
  for (auto& section : fabric.switches) {
    section.config.protocols.emplace<flare::FlareConfig>();
  }
  constexpr std::uint64_t roots = 1;  // of the streams of a job, after its seats
  for (std::uint32_t job = 0; job < shape.jobs; ++job) {
    if (!is_flare(shape, job)) {
      continue;
    }
    auto random = stream_of(shape.seed, Stream::trees, job | roots << 16);
    const auto plan = flare_plan(shape, job);
    ReductionTree tree;
    tree.job = job_id(job);
    tree.group = plan.group;
    tree.hosts = separate_hosts(shape, job, fabric.hosts.size());
    tree.root = draw_root(shape, fabric.switches.size(), random);
    tree.window = plan.window;
    tree.sparse_window = plan.sparse_window;
    tree.reproducible = shape.reproducible != 0;
    set_up(fabric, tree);
  }
}

}  // namespace tributary::test
