// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "protocols/panama/host/collectives.h"
#include "support/aggregation_tree.h"
#include "support/virtual_fabric.h"
#include "unit/host/values.h"

namespace tributary::test {

// The workers of one PANAMA job on hosts of a fabric, rank by rank. Its trees are set up before the
// fabric is built, by set_up_trees().
class PanamaWorkers {
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

  PanamaWorkers(VirtualFabric& fabric, Options options)
      : fabric_(fabric), options_(std::move(options)) {
    host::PanamaPlan plan;
    for (std::uint16_t i = 0; i < options_.roots.size(); ++i) {
      plan.trees.push_back(group(options_, i));
    }
    plan.congestion_control = options_.congestion_control;
    plan.quorum = options_.quorum;
    plan.window_max = options_.window_max;
    host::Job job;
    job.id = options_.job;
    job.key = {static_cast<std::uint8_t>(options_.job), 2, 3, options_.run};
    job.payload_bytes = options_.payload_bytes;
    job.peers.resize(options_.world_size);
    for (; job.rank < options_.world_size; ++job.rank) {
      machines_.push_back(std::make_unique<host::PanamaCollectives>(job, plan));
      fabric.attach(options_.first_host + job.rank, wire::panama_udp_port, *machines_.back());
    }
  }

  ~PanamaWorkers() {
    for (const auto& machine : machines_) {
      fabric_.detach(*machine);
    }
  }
  PanamaWorkers(const PanamaWorkers&) = delete;
  PanamaWorkers& operator=(const PanamaWorkers&) = delete;

  void begin(std::size_t count, wire::ElementType type = wire::ElementType::i32,
             wire::Operator op = wire::Operator::sum, Duration allowed = std::chrono::seconds(10)) {
    prepare(count, type, op);
    for (std::uint32_t rank = 0; rank < options_.world_size; ++rank) {
      begin_rank(rank, allowed);
    }
  }
  void prepare(std::size_t count, wire::ElementType type, wire::Operator op) {
    buffers_ = {nullptr, nullptr, count, type, op};
    in_.clear();
    out_.clear();
    for (std::uint32_t rank = 0; rank < options_.world_size; ++rank) {
      in_.push_back(host::test::input(rank, count, type, op));
      out_.emplace_back(in_.back().size());
    }
  }
  // All that f32 ranks contribute, instead of what differs by rank.
  void fill(float value) {
    for (auto& in : in_) {
      for (std::size_t at = 0; at < in.size(); at += sizeof value) {
        std::memcpy(in.data() + at, &value, sizeof value);
      }
    }
  }
  // Of the f32 results of all ranks.
  float greatest() const {
    float most = 0;
    for (const auto& out : out_) {
      for (std::size_t i = 0; i < buffers_.count; ++i) {
        most = std::max(most, std::abs(host::test::element_at<float>(out, i)));
      }
    }
    return most;
  }
  void begin_rank(std::uint32_t rank, Duration allowed = std::chrono::seconds(10)) {
    auto buffers = buffers_;
    buffers.in = in_[rank].data();
    buffers.out = out_[rank].data();
    machines_[rank]->begin({host::Collective::allreduce, buffers}, fabric_.host_now(),
                           fabric_.host_now() + allowed);
    fabric_.wake(options_.first_host + rank);
  }

  bool none_running() const {
    return std::none_of(machines_.begin(), machines_.end(),
                        [](const auto& machine) { return machine->running(); });
  }
  bool all_done() const {
    return none_running() && std::none_of(machines_.begin(), machines_.end(), [](const auto& each) {
             return each->failure().has_value();
           });
  }
  // Elements that are not the sum of the first `ranks` ranks; of all, without a number.
  std::size_t wrong(std::uint32_t ranks = 0) const {
    std::size_t sum = 0;
    for (const auto& out : out_) {
      sum += host::test::wrong_elements(out, ranks == 0 ? options_.world_size : ranks,
                                        buffers_.count, buffers_.type, buffers_.op);
    }
    return sum;
  }
  host::PanamaCollectives& machine(std::uint32_t rank) { return *machines_[rank]; }
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

  VirtualFabric& fabric_;
  Options options_;
  std::vector<std::unique_ptr<host::PanamaCollectives>> machines_;
  host::Buffers buffers_;
  std::vector<host::test::Elements> in_;
  std::vector<host::test::Elements> out_;
};

}  // namespace tributary::test
