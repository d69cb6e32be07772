// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "host/job.h"
#include "support/virtual_fabric.h"
#include "unit/host/values.h"

namespace tributary::test {

// The workers of one job whose switches are a tree, on hosts of a fabric, rank by rank, and their
// vectors.
template <typename Collectives>
class TreeWorkers {
 public:
  TreeWorkers(const TreeWorkers&) = delete;
  TreeWorkers& operator=(const TreeWorkers&) = delete;

  void begin(std::size_t count, wire::ElementType type = wire::ElementType::i32,
             wire::Operator op = wire::Operator::sum, Duration allowed = std::chrono::seconds(10)) {
    prepare(count, type, op);
    begin_all(allowed);
  }
  void prepare(std::size_t count, wire::ElementType type, wire::Operator op) {
    buffers_ = {nullptr, nullptr, count, type, op};
    in_.clear();
    out_.clear();
    for (std::uint32_t rank = 0; rank < world_size(); ++rank) {
      in_.push_back(host::test::input(rank, count, type, op));
      out_.emplace_back(in_.back().size());
    }
  }
  void begin_all(Duration allowed = std::chrono::seconds(10)) {
    for (std::uint32_t rank = 0; rank < world_size(); ++rank) {
      begin_rank(rank, allowed);
    }
  }
  void begin_rank(std::uint32_t rank, Duration allowed = std::chrono::seconds(10)) {
    auto buffers = buffers_;
    buffers.in = in_[rank].data();
    buffers.out = out_[rank].data();
    machines_[rank]->begin({host::Collective::allreduce, buffers}, fabric_.host_now(),
                           fabric_.host_now() + allowed);
    fabric_.wake(first_host_ + rank);
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
  // Counts elements that are not the sum of the first `ranks` ranks, or of all without a number.
  std::size_t wrong(std::uint32_t ranks = 0) const {
    std::size_t sum = 0;
    for (const auto& out : out_) {
      sum += host::test::wrong_elements(out, ranks == 0 ? world_size() : ranks, buffers_.count,
                                        buffers_.type, buffers_.op);
    }
    return sum;
  }
  const host::test::Elements& result(std::uint32_t rank) const { return out_[rank]; }

  std::uint32_t world_size() const { return static_cast<std::uint32_t>(machines_.size()); }
  Collectives& machine(std::uint32_t rank) { return *machines_[rank]; }

 protected:
  TreeWorkers(VirtualFabric& fabric, std::size_t first_host)
      : fabric_(fabric), first_host_(first_host) {}
  ~TreeWorkers() {
    for (const auto& machine : machines_) {
      fabric_.detach(*machine);
    }
  }

  // A machine for each rank that `make` makes of its job.
  template <typename Make>
  void add_machines(host::Job job, std::uint32_t world_size, std::uint16_t udp_port, Make make) {
    job.peers.resize(world_size);
    for (job.rank = 0; job.rank < world_size; ++job.rank) {
      machines_.push_back(std::unique_ptr<Collectives>(make(std::as_const(job))));
      fabric_.attach(first_host_ + job.rank, udp_port, *machines_.back());
    }
  }

  std::vector<std::unique_ptr<Collectives>> machines_;
  host::Buffers buffers_;
  std::vector<host::test::Elements> in_;
  std::vector<host::test::Elements> out_;

 private:
  VirtualFabric& fabric_;
  std::size_t first_host_;
};

}  // namespace tributary::test
