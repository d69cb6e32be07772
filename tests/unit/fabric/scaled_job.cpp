// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/scaled_job.h"

#include <algorithm>
#include <chrono>
#include <malloc.h>
#include <memory>
#include <utility>
#include <vector>

#include "unit/fabric/accounts.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 60s;
// Room for what all ranks may have on the way.
constexpr std::size_t packets_per_rank = 4 * scaled_window;
constexpr std::size_t packets_min = 65536;
constexpr std::uint32_t buffer_bytes = 1024;
constexpr std::uint64_t rate_bps = 100'000'000'000;

ThreeLevels shape_of(const ScaledJob& job) {
  ThreeLevels shape;
  shape.pods = job.pods;
  shape.leaves_per_pod = job.leaves_per_pod;
  shape.hosts_per_leaf = job.hosts_per_leaf;
  shape.spines_per_pod = 2;
  shape.cores_per_spine = 2;
  shape.leaf_seed = 1;
  shape.spine_seed = 2;
  shape.loss = job.loss;
  shape.canary.hash_seed = job.seed;
  return shape;
}

FabricSpec spec_of(const ScaledEngine& engine, const ScaledJob& job) {
  const auto shape = shape_of(job);
  auto spec = make_three_levels(shape);
  spec.seed = job.seed;
  spec.cable_delay = 1us;
  spec.cable_rate_bps = rate_bps;
  for (auto& host : spec.hosts) {
    host.rate_bps = rate_bps;
  }
  engine.set_up(spec, shape);
  return spec;
}

std::size_t allocated_bytes() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

double in_seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

// The ranks of a job and their vectors.
class ScaledRanks {
 public:
  ScaledRanks(VirtualFabric& fabric, const ScaledEngine& engine, const ScaledJob& job)
      : fabric_(fabric) {
    host::Job of;
    of.id = scaled_job_id;
    of.key = {static_cast<std::uint8_t>(job.seed), 4, 7};
    of.payload_bytes = scaled_payload_bytes;
    of.window = scaled_window;
    for (std::uint32_t rank = 0; rank < job.world(); ++rank) {
      of.peers.push_back(fabric.endpoint(rank, engine.udp_port));
    }
    for (of.rank = 0; of.rank < job.world(); ++of.rank) {
      machines_.push_back(engine.make(std::as_const(of)));
      fabric.attach(of.rank, engine.udp_port, *machines_.back());
    }
  }

  void begin(std::size_t elements) {
    expected_.assign(elements, 0);
    in_.assign(machines_.size(), std::vector<std::int32_t>(elements));
    out_.assign(machines_.size(), std::vector<std::int32_t>(elements));
    for (std::size_t rank = 0; rank < machines_.size(); ++rank) {
      for (std::size_t i = 0; i < elements; ++i) {
        number_ = number_ * 1664525u + 1013904223u;
        in_[rank][i] = static_cast<std::int32_t>(number_ >> 12) - (1 << 19);
        expected_[i] += in_[rank][i];
      }
      const auto now = fabric_.host_now();
      machines_[rank]->begin(
          host::call_of(host::Collective::allreduce, in_[rank].data(), out_[rank].data(), elements,
                        wire::ElementType::i32, wire::Operator::sum),
          now, now + patience);
    }
  }

  // Returns what went wrong, or an empty text.
  std::string failure() const {
    for (std::size_t rank = 0; rank < machines_.size(); ++rank) {
      const auto& machine = *machines_[rank];
      if (machine.running()) {
        return "rank " + std::to_string(rank) + " did not end";
      }
      if (machine.failure()) {
        return machine.failure()->message;
      }
      if (out_[rank] != expected_) {
        return "rank " + std::to_string(rank) + " has a wrong sum";
      }
    }
    return {};
  }

  std::uint64_t repeats(const ScaledEngine& engine) const {
    std::uint64_t sum = 0;
    for (const auto& machine : machines_) {
      sum += engine.repeats(*machine);
    }
    return sum;
  }

  // Ends the machines and returns how much memory they had.
  std::size_t end() {
    for (const auto& machine : machines_) {
      fabric_.detach(*machine);
    }
    const auto before = allocated_bytes();
    for (auto& machine : machines_) {
      machine.reset();
    }
    return before - allocated_bytes();
  }

 private:
  VirtualFabric& fabric_;
  std::uint32_t number_ = 1;
  std::vector<std::unique_ptr<host::Machine>> machines_;
  std::vector<std::vector<std::int32_t>> in_;
  std::vector<std::vector<std::int32_t>> out_;
  std::vector<std::int32_t> expected_;
};

void count_packets(VirtualFabric& fabric, ScaledCost& cost) {
  fabric.trace([&cost](const Hop& hop) {
    const bool from_host = !hop.at_host && hop.port.front() == 'h';
    cost.packets_of_hosts += hop.at_host || from_host ? 1 : 0;
    cost.packets_of_switches += hop.at_host ? 0 : 1;
  });
}

void measure(VirtualFabric& fabric, ScaledCost& cost) {
  Spent spent;
  fabric.measure(&spent);
  const auto start = fabric.now();
  fabric.run(patience);
  fabric.measure(nullptr);
  cost.time = fabric.now() - start;
  cost.seconds_of_hosts = in_seconds(spent.machines);
  cost.seconds_of_switches = in_seconds(spent.switches);
}

void look_at_switches(const VirtualFabric& fabric, const ScaledEngine& engine, ScaledCost& cost) {
  cost.blocks = job_of(fabric, scaled_job_id).descriptors_high_water;
  for (std::size_t index = 0; index < fabric.switch_count(); ++index) {
    const auto figures = figures_of(fabric, index);
    std::uint64_t packets = 0;
    for (const auto name : engine.packets_held) {
      const auto found = figures.find(name);
      packets += found == figures.end() ? 0 : found->second;
    }
    cost.packets_held = std::max(cost.packets_held, packets);
  }
}

}  // namespace

ScaledCost cost_of(const ScaledEngine& engine, const ScaledJob& job) {
  ScaledCost cost;
  HeapPacketPool pool(std::max(packets_min, job.world() * packets_per_rank), buffer_bytes);
  VirtualFabric fabric(spec_of(engine, job), &pool);
  ScaledRanks ranks(fabric, engine, job);
  // NetReduce begins a run with one packet, as a barrier is.
  for (const auto elements : {std::size_t{1}, job.elements}) {
    ranks.begin(elements);
    fabric.run(patience);
    cost.failure = ranks.failure();
    if (!cost.failure.empty()) {
      return cost;
    }
  }
  const auto repeats = ranks.repeats(engine);
  ranks.begin(job.elements);
  count_packets(fabric, cost);
  measure(fabric, cost);
  cost.failure = ranks.failure();
  cost.repeats = ranks.repeats(engine) - repeats;
  look_at_switches(fabric, engine, cost);
  for (const auto& ledger : fabric.ledgers()) {
    if (!ledger.balanced()) {
      cost.failure = "a ledger does not balance";
    }
  }
  cost.bytes_of_hosts = ranks.end();
  return cost;
}

}  // namespace tributary::test
