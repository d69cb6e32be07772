// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "protocols/canary/host/collectives.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

inline void expect_balanced(const VirtualFabric& fabric) {
  for (const auto& ledger : fabric.ledgers()) {
    EXPECT_TRUE(ledger.balanced());
  }
}

// The workers of one communicator on some hosts of a fabric, with vectors of i32 whose sum is
// computed here, from the inputs alone.
class Workers {
 public:
  struct Options {
    std::uint32_t world_size = 8;
    std::uint32_t payload_bytes = 256;
    std::uint32_t window = 32;
    std::uint32_t job = 1;
    std::uint16_t udp_port = 17000;
    std::uint64_t seed = 1;
    std::vector<std::size_t> hosts = {};  // by rank; empty: the first ones of the fabric
    bool congestion_control = true;
  };

  Workers(VirtualFabric& fabric, const Options& options) : fabric_(fabric), options_(options) {
    host::Job job;
    job.id = options.job;
    std::memcpy(job.key.data(), &options.seed, sizeof options.seed);
    job.payload_bytes = options.payload_bytes;
    job.window = options.window;
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      job.peers.push_back(fabric.endpoint(host_of(rank), options.udp_port));
    }
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      job.rank = rank;
      host::CanaryTuning tuning;
      tuning.congestion_control = options.congestion_control;
      machines_.push_back(std::make_unique<host::CanaryCollectives>(job, tuning));
      fabric.attach(host_of(rank), options.udp_port, *machines_.back());
    }
  }

  void begin(std::size_t count, Duration allowed = std::chrono::seconds(10)) {
    std::minstd_rand random(
        static_cast<std::uint32_t>(options_.seed));  // fast: inputs are most of it
    inputs_.assign(options_.world_size, std::vector<std::int32_t>(count));
    outputs_.assign(options_.world_size, std::vector<std::int32_t>(count));
    expected_.assign(count, 0);
    for (std::uint32_t rank = 0; rank < options_.world_size; ++rank) {
      for (std::size_t i = 0; i < count; ++i) {
        inputs_[rank][i] = static_cast<std::int32_t>(random() % 2'000'001) - 1'000'000;
        expected_[i] += inputs_[rank][i];
      }
    }
    begin_all(host::Collective::allreduce, allowed);
  }
  void begin_barrier(Duration allowed = std::chrono::seconds(10)) {
    inputs_.assign(options_.world_size, {});
    outputs_.assign(options_.world_size, {});
    expected_.clear();
    begin_all(host::Collective::barrier, allowed);
  }

  bool none_running() const {
    for (const auto& machine : machines_) {
      if (machine->running()) {
        return false;
      }
    }
    return true;
  }
  bool all_done() const {
    for (const auto& machine : machines_) {
      if (machine->failure()) {
        return false;
      }
    }
    return none_running();
  }
  // Every machine that does not report a failure has the exact sum.
  bool never_wrong() const {
    for (std::uint32_t rank = 0; rank < options_.world_size; ++rank) {
      if (!machines_[rank]->failure() && outputs_[rank] != expected_) {
        return false;
      }
    }
    return true;
  }
  void set_payload(std::uint32_t bytes) {
    for (const auto& machine : machines_) {
      machine->set_payload(bytes);
    }
  }
  const host::CanaryCollectives& machine(std::uint32_t rank) const { return *machines_[rank]; }
  const std::vector<std::int32_t>& output(std::uint32_t rank) const { return outputs_[rank]; }

 private:
  std::size_t host_of(std::uint32_t rank) const {
    return options_.hosts.empty() ? rank : options_.hosts[rank];
  }
  void begin_all(host::Collective collective, Duration allowed) {
    for (std::uint32_t rank = 0; rank < options_.world_size; ++rank) {
      machines_[rank]->begin({collective, buffers(rank)}, fabric_.host_now(),
                             fabric_.host_now() + allowed);
    }
  }
  host::Buffers buffers(std::uint32_t rank) {
    return {reinterpret_cast<const std::byte*>(inputs_[rank].data()),
            reinterpret_cast<std::byte*>(outputs_[rank].data()), inputs_[rank].size(),
            wire::ElementType::i32, wire::Operator::sum};
  }

  VirtualFabric& fabric_;
  Options options_;
  std::vector<std::unique_ptr<host::CanaryCollectives>> machines_;
  std::vector<std::vector<std::int32_t>> inputs_;
  std::vector<std::vector<std::int32_t>> outputs_;
  std::vector<std::int32_t> expected_;
};

}  // namespace tributary::test
