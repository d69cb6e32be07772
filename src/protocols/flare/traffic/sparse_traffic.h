// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "packet/pool.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/traffic/sparse_frames.h"
#include "protocols/flare/traffic/sparse_plan.h"
#include "protocols/flare/traffic/sparse_reception.h"
#include "protocols/flare/traffic/sparse_values.h"
#include "protocols/flare/traffic/window_traffic.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Makes traffic of aggregation of sparse blocks with Flare (section 7): all workers of some jobs,
// and the root of their trees if the switch is not.
class FlareSparseTraffic final : public WindowTraffic {
 public:
  // The stations outlive it. The plan's window is that of the sparse blocks, its elements and
  // operators do not matter.
  FlareSparseTraffic(traffic::TreePlan plan, const SparsePlan& sparse,
                     const traffic::Stations& stations, PacketPool& pool);

 private:
  struct Job {
    FlareSparseFrames frames;
    std::vector<SparseReception> results;  // by place and rank
    std::vector<SparseReception> sums;     // by place; where the root is played
  };

  void write(const Part& part, Packet& packet) override;
  std::uint32_t parts_of(std::uint32_t job) const override {
    return jobs_[job].frames.values().shards();
  }
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;

  void take_result_shard(std::uint32_t job, std::uint32_t rank,
                         const wire::FlareSparseHeader& header, wire::Bytes payload, Time now);
  void take_sum_shard(std::uint32_t job, const wire::FlareSparseHeader& header, wire::Bytes payload,
                      traffic::Outbox& out);
  bool take(const Job& job, SparseReception& reception, const wire::FlareSparseHeader& header,
            wire::Bytes payload);
  void answer(const Job& job, std::uint64_t block, traffic::Outbox& out);

  std::vector<std::unique_ptr<SparseValues>> values_;  // by kind
  std::vector<Job> jobs_;
};

}  // namespace tributary::flare
