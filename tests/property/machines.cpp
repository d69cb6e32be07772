// SPDX-License-Identifier: BSD-3-Clause
#include "property/machines.h"

#include "property/flare_job.h"
#include "property/panama_job.h"
#include "property/ring_job.h"
#include "protocols/canary/host/collectives.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/panama/host/collectives.h"

namespace tributary::test {
namespace {

std::unique_ptr<host::Machine> make_canary(const Shape& shape, const host::Job& job) {
  host::CanaryTuning tuning;
  tuning.attempts_max = static_cast<unsigned>(shape.attempts);
  tuning.implicit_release_max = shape.retained_kib * 1024;
  return std::make_unique<host::CanaryCollectives>(
      job, tuning, static_cast<std::uint32_t>(shape.first_sequence));
}

// Epochs begin as near to the wrap of their numbers as Canary's.
std::unique_ptr<host::Machine> make_panama(const Shape& shape, std::uint32_t index,
                                           const host::Job& job) {
  const auto first_epoch = shape.first_sequence == 0
                               ? 0u
                               : 0u - static_cast<std::uint32_t>(1 + shape.first_sequence % 4);
  return std::make_unique<host::PanamaCollectives>(job, panama_plan(shape, index, job.world_size()),
                                                   host::PanamaTuning{}, first_epoch);
}

std::unique_ptr<host::Machine> make_netreduce(const Shape& shape, std::uint32_t index,
                                              const host::Job& job, std::uint64_t run) {
  const auto world = job.world_size();
  const auto ends = ring_ends(shape, index, run, world);
  const auto neighbour = [&](std::uint32_t rank) {
    return host::LinkNeighbour{job.peers[rank].ip(), ends[rank]};
  };
  const host::LinkPlan link{ends[job.rank], neighbour((job.rank + 1) % world),
                            neighbour((job.rank + world - 1) % world)};
  return std::make_unique<host::NetReduceCollectives>(job, ring_plan(shape, index), link,
                                                      ring_tuning(shape));
}

void add(CanaryStatistics& sum, const CanaryStatistics& from) {
  sum.switch_sums_seen += from.switch_sums_seen;
  sum.requests_sent += from.requests_sent;
  sum.replays_sent += from.replays_sent;
  sum.failures_sent += from.failures_sent;
  sum.blocks_in_network += from.blocks_in_network;
  sum.blocks_by_hosts += from.blocks_by_hosts;
  sum.fingerprint_rejections += from.fingerprint_rejections;
  sum.collisions_received += from.collisions_received;
}

}  // namespace

std::unique_ptr<host::Machine> make_machine(const Shape& shape, std::uint32_t index,
                                            const host::Job& job, std::uint64_t run) {
  if (is_panama(shape, index)) {
    return make_panama(shape, index, job);
  }
  if (is_netreduce(shape, index)) {
    return make_netreduce(shape, index, job, run);
  }
  if (is_flare(shape, index)) {
    return std::make_unique<host::FlareCollectives>(job, flare_plan(shape, index));
  }
  return make_canary(shape, job);
}

void Tally::add(const Shape& shape, std::uint32_t index, const host::Machine& machine) {
  if (is_panama(shape, index)) {
    const auto from = static_cast<const host::PanamaCollectives&>(machine).statistics();
    panama_partial += from.results_partial;
    for (const auto& tree : from.trees) {
      panama_repeats += tree.retransmissions_sent;
    }
  } else if (is_netreduce(shape, index)) {
    const auto from = static_cast<const host::NetReduceCollectives&>(machine).statistics();
    roce_repeats += from.roce.retransmissions_sent;
  } else if (is_flare(shape, index)) {
    const auto from = static_cast<const host::FlareCollectives&>(machine).statistics();
    flare_repeats += from.retransmissions_sent;
  } else {
    test::add(canary, static_cast<const host::CanaryCollectives&>(machine).statistics());
  }
}

}  // namespace tributary::test
