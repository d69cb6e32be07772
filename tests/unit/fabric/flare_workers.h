// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "protocols/flare/engine/config.h"
#include "protocols/flare/host/collectives.h"
#include "support/reduction_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/tree_workers.h"

namespace tributary::test {

// The workers of one Flare job on hosts of a fabric. Its tree is set up before the fabric is built,
// by set_up_tree().
class FlareWorkers : public TreeWorkers<host::FlareCollectives> {
 public:
  struct Options {
    std::uint32_t world_size = 8;
    std::size_t root = 0;  // switch
    std::uint32_t window = flare::window_default;
    std::uint32_t sparse_window = 0;
    bool reproducible = false;
    std::uint32_t payload_bytes = 256;
    std::uint32_t job = 1;
    std::size_t first_host = 0;
    std::uint8_t run = 0;  // of the job
  };

  static FabricSpec set_up_tree(FabricSpec spec, const Options& options) {
    for (auto& section : spec.switches) {
      auto& protocols = section.config.protocols;
      if (protocols.find<flare::FlareConfig>() == nullptr) {
        protocols.emplace<flare::FlareConfig>();
      }
    }
    ReductionTree tree;
    tree.job = options.job;
    tree.group = group(options);
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      tree.hosts.push_back(options.first_host + rank);
    }
    tree.root = options.root;
    tree.window = options.window;
    tree.sparse_window = options.sparse_window;
    tree.reproducible = options.reproducible;
    set_up(spec, tree);
    return spec;
  }

  FlareWorkers(VirtualFabric& fabric, const Options& options)
      : TreeWorkers(fabric, options.first_host) {
    const host::FlarePlan plan{group(options), options.window, options.sparse_window};
    host::Job job;
    job.id = options.job;
    job.key = {static_cast<std::uint8_t>(options.job), 5, 6, options.run};
    job.payload_bytes = options.payload_bytes;
    add_machines(job, options.world_size, wire::flare_udp_port, [&plan](const host::Job& own) {
      return std::make_unique<host::FlareCollectives>(own, plan);
    });
  }

  // Has f32 ranks contribute numbers whose sum depends on the order.
  void scatter() {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> values(-1, 1);
    for (auto& in : in_) {
      for (std::size_t at = 0; at < in.size(); at += sizeof(float)) {
        const auto value = values(random);
        std::memcpy(in.data() + at, &value, sizeof value);
      }
    }
  }
  std::uint64_t sent_again() const {
    std::uint64_t sum = 0;
    for (const auto& machine : machines_) {
      sum += machine->statistics().retransmissions_sent;
    }
    return sum;
  }

 private:
  static wire::Ipv4Address group(const Options& options) {
    return wire::Ipv4Address(0xefd00000u + options.job);
  }
};

}  // namespace tributary::test
