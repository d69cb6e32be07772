// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "protocols/panama/host/collectives.h"
#include "support/aggregation_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/tree_workers.h"

namespace tributary::test {

// The workers of one PANAMA job on hosts of a fabric. Its trees are set up before the fabric is
// built, by set_up_trees().
class PanamaWorkers : public TreeWorkers<host::PanamaCollectives> {
 public:
  struct Options {
    std::uint32_t world_size = 8;
    std::vector<std::size_t> roots = {};  // switches, by tree
    std::uint32_t payload_bytes = 256;
    std::uint32_t window_max = 256;
    bool congestion_control = true;
    std::uint32_t quorum = 0;
    std::uint32_t job = 1;
    std::size_t first_host = 0;
    std::uint8_t run = 0;  // of the job
  };

  static FabricSpec set_up_trees(FabricSpec spec, const Options& options) {
    AggregationTree tree;
    tree.job = options.job;
    tree.quorum = static_cast<std::uint16_t>(options.quorum);
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      tree.hosts.push_back(options.first_host + rank);
    }
    for (std::uint16_t i = 0; i < options.roots.size(); ++i) {
      tree.tree = i;
      tree.group = group(options, i);
      tree.root = options.roots[i];
      set_up(spec, tree);
    }
    return spec;
  }

  PanamaWorkers(VirtualFabric& fabric, const Options& options)
      : TreeWorkers(fabric, options.first_host) {
    host::PanamaPlan plan;
    for (std::uint16_t i = 0; i < options.roots.size(); ++i) {
      plan.trees.push_back(group(options, i));
    }
    plan.congestion_control = options.congestion_control;
    plan.quorum = options.quorum;
    plan.window_max = options.window_max;
    host::Job job;
    job.id = options.job;
    job.key = {static_cast<std::uint8_t>(options.job), 2, 3, options.run};
    job.payload_bytes = options.payload_bytes;
    add_machines(job, options.world_size, wire::panama_udp_port, [&plan](const host::Job& own) {
      return std::make_unique<host::PanamaCollectives>(own, plan);
    });
  }

  // Has all f32 ranks contribute this value, instead of different ones.
  void fill(float value) {
    for (auto& in : in_) {
      for (std::size_t at = 0; at < in.size(); at += sizeof value) {
        std::memcpy(in.data() + at, &value, sizeof value);
      }
    }
  }
  // The greatest element of the f32 results of all ranks.
  float greatest() const {
    float most = 0;
    for (const auto& out : out_) {
      for (std::size_t i = 0; i < buffers_.count; ++i) {
        most = std::max(most, std::abs(host::test::element_at<float>(out, i)));
      }
    }
    return most;
  }
  std::uint64_t sent_again() const {
    std::uint64_t sum = 0;
    for (const auto& machine : machines_) {
      for (const auto& tree : machine->statistics().trees) {
        sum += tree.retransmissions_sent;
      }
    }
    return sum;
  }

 private:
  static wire::Ipv4Address group(const Options& options, std::uint16_t tree) {
    return wire::Ipv4Address(0xefc00000u + options.job * 256 + tree);
  }
};

}  // namespace tributary::test
