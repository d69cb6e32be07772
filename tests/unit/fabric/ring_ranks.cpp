// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/ring_ranks.h"

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace tributary::test {
namespace {

host::LinkEnd ring_end(std::uint32_t rank) {
  host::LinkEnd end;
  end.send_qp = 0x100 + 2 * rank;
  end.receive_qp = 0x101 + 2 * rank;
  end.first_psn = 1000 * rank;
  end.key = rank + 1;
  end.memory = 0x10000;
  return end;
}

}  // namespace

netreduce::RingConfig ring_of(const host::NetReducePlan& plan) {
  netreduce::RingConfig ring;
  ring.id = plan.ring;
  ring.window = static_cast<std::uint16_t>(plan.window);
  ring.message_packets = static_cast<std::uint16_t>(plan.message_packets);
  ring.mtu = static_cast<std::uint16_t>(plan.mtu);
  return ring;
}

void add_ring(control::SwitchSection& section, netreduce::RingConfig ring) {
  auto& config = section.config.protocols.emplace<netreduce::NetReduceConfig>();
  config.rings.push_back(std::move(ring));
  if (const auto fault = netreduce::find_fault(config, 0)) {
    throw std::logic_error(fault->message);
  }
}

std::unique_ptr<host::Machine> make_ring_rank(const host::Job& job,
                                              const host::NetReducePlan& plan) {
  const auto world = job.world_size();
  const auto neighbour = [&job](std::uint32_t rank) {
    return host::LinkNeighbour{job.peers[rank].address, ring_end(rank)};
  };
  const host::LinkPlan link{ring_end(job.rank), neighbour((job.rank + 1) % world),
                            neighbour((job.rank + world - 1) % world)};
  return std::make_unique<host::NetReduceCollectives>(job, plan, link);
}

}  // namespace tributary::test
