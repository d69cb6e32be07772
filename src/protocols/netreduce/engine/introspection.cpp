// SPDX-License-Identifier: BSD-3-Clause
// This is what the engine tells operators. It is not on the packet path, so it allocates freely.
#include <algorithm>
#include <bit>
#include <utility>

#include "engine/waiting_blocks.h"
#include "protocols/netreduce/engine/engine.h"

namespace tributary::netreduce {
namespace {

// What waits that long waits for a rank that is late, or for a packet that was lost.
constexpr Duration stalled_after = std::chrono::milliseconds(100);

// Calls `see(ring, aggregator, index)` for every aggregator that waits for packets or for the sum.
template <typename See>
void for_waiting(const std::vector<std::unique_ptr<Ring>>& rings, See see) {
  for (const auto& ring : rings) {
    const auto& array = std::as_const(*ring).aggregators();
    for (std::size_t index = 0; index < array.size(); ++index) {
      if (const auto* aggregator = array.waiting(index)) {
        see(*ring, *aggregator, index);
      }
    }
  }
}

std::uint32_t count_present(const Aggregator& aggregator) {
  return static_cast<std::uint32_t>(std::popcount(aggregator.present));
}

std::uint64_t waiting_in(const Ring& ring, const Aggregator& aggregator) {
  const bool is_sent = aggregator.state == Aggregator::State::sent;
  return aggregator.present & ~(is_sent ? ring.paths().upwards() : 0);
}

// Returns whose packets are missing: below the switch, whoever has not sent; once those are all
// there, whoever lies elsewhere; where what went up is forgotten, whoever it lacks.
std::uint64_t missing_in(const Ring& ring, const Aggregator& aggregator) {
  const auto& paths = ring.paths();
  switch (aggregator.state) {
    case Aggregator::State::sent:
      return ~paths.below();
    case Aggregator::State::total_only:
      return paths.added() & ~aggregator.added & ~aggregator.present;
    default:
      return paths.gathered() & ~aggregator.present;
  }
}

std::vector<std::uint16_t> missing_from(const Ring& ring, const Aggregator& aggregator) {
  const auto missing = missing_in(ring, aggregator);
  std::vector<std::uint16_t> ranks;
  for (std::uint16_t rank = 0; rank < ring.world(); ++rank) {
    if ((missing >> rank & 1) != 0) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

}  // namespace

std::vector<engine::FigureKind> NetReduceEngine::figure_kinds() {
  return engine::kinds_of(standing_figures, ring_figures);
}

std::vector<engine::Figure> NetReduceEngine::figures() const {
  Standing now = {counters_};
  now.rings = rings_.size();
  for (const auto& ring : rings_) {
    now.runs += ring->runs();
    now.connections += ring->claimed();
  }
  for_waiting(rings_, [&](const Ring& ring, const Aggregator& aggregator, std::size_t) {
    now.waiting += static_cast<std::uint64_t>(std::popcount(waiting_in(ring, aggregator)));
  });
  std::vector<engine::Figure> all;
  engine::append_figures(all, now, standing_figures, engine::Of::engine);
  return all;
}

std::vector<engine::JobStatus> NetReduceEngine::jobs() const {
  std::vector<engine::JobStatus> rows;
  for (const auto& ring : rings_) {
    rows.push_back({});
    rows.back().job = ring->config().id;
    rows.back().contributions = ring->tally().gradients;
    rows.back().results = ring->tally().sums;
  }
  for_waiting(rings_, [&](const Ring& ring, const Aggregator&, std::size_t) {
    const auto id = ring.config().id;
    ++std::find_if(rows.begin(), rows.end(), [id](const auto& row) {
        return row.job == id;
      })->descriptors;
  });
  return rows;
}

// Each ring is the one tree of its job.
std::vector<engine::TreeStatus> NetReduceEngine::trees() const {
  std::vector<engine::TreeStatus> rows;
  for (const auto& job : jobs()) {
    const auto& ring = *rings_[rows.size()];
    auto& row = rows.emplace_back();
    row.job = job.job;
    row.active = job.descriptors != 0;
    row.used = ring.used();
    engine::append_figures(row.figures, ring.tally(), ring_figures, engine::Of::tree);
  }
  return rows;
}

std::vector<engine::DescriptorStatus> NetReduceEngine::descriptors(Time now,
                                                                   std::size_t limit) const {
  std::vector<engine::DescriptorStatus> rows;
  for_waiting(rings_, [&](const Ring& ring, const Aggregator& aggregator, std::size_t index) {
    if (rows.size() == limit) {
      return;
    }
    engine::DescriptorStatus row;
    row.job = ring.config().id;
    row.id = aggregator.message;
    row.counter = count_present(aggregator);
    row.hosts = ring.world();
    row.age = now - aggregator.born;
    for (const auto& slot : ring.aggregators().slots(index)) {
      if (slot.packet != nullptr) {
        row.children.push_back(slot.packet->ingress);
      }
    }
    rows.push_back(std::move(row));
  });
  return rows;
}

// There is one row for each message that waits: its packets mostly wait for the same ranks.
std::vector<engine::StallStatus> NetReduceEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> rows;
  for_waiting(rings_, [&](const Ring& ring, const Aggregator& aggregator, std::size_t) {
    const auto id = ring.config().id;
    const bool is_known =
        !rows.empty() && rows.back().job == id && rows.back().block == aggregator.message;
    if (now - aggregator.born < stalled_after || is_known) {
      return;
    }
    engine::StallStatus row;
    row.job = id;
    row.block = aggregator.message;
    row.contributions = count_present(aggregator);
    row.hosts = ring.world();
    row.waiting = now - aggregator.born;
    row.missing = missing_from(ring, aggregator);
    rows.push_back(std::move(row));
  });
  engine::keep_longest(rows, limit);
  return rows;
}

}  // namespace tributary::netreduce
