// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "packet/pool.h"
#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/traffic/window_traffic.h"
#include "protocols/flare/wire.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Makes traffic of aggregation with Flare: all workers of some jobs, and the root of their trees if
// the switch is not.
class FlareTraffic final : public WindowTraffic {
 public:
  // The stations outlive it.
  FlareTraffic(traffic::TreePlan plan, const traffic::Stations& stations, PacketPool& pool);

 private:
  struct Job {
    const traffic::BlockValues* values = nullptr;
    FlareFrames frames;
  };

  void write(const Part& part, Packet& packet) override;
  std::uint32_t parts_of(std::uint32_t /*job*/) const override { return 1; }
  void arrived(PacketPtr packet, std::size_t port, Time now, traffic::Outbox& out) override;

  bool is_right(const Job& job, wire::FlareKind kind, const wire::FlareHeader& header,
                wire::Bytes payload) const;
  void answer(const Job& job, PacketPtr sum, traffic::Outbox& out);

  std::vector<std::unique_ptr<traffic::BlockValues>> values_;  // by kind
  std::vector<Job> jobs_;
};

}  // namespace tributary::flare
