// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/ring.h"

#include <algorithm>

#include "packet/pool.h"

namespace tributary::netreduce {

Ring::Ring(const RingConfig& config)
    : config_(config),
      paths_(config),
      connections_(config.members.size(), Connection(config.open_messages())),
      newcomers_(config.members.size()),
      aggregators_(config) {
  for (const auto mtu : wire::ring_mtus) {
    if (mtu <= config.mtu) {
      joints_.emplace_back(mtu);
    }
  }
  for (std::uint16_t rank = 0; rank < world(); ++rank) {
    if (paths_.of(rank) != Path::elsewhere) {
      newcomers_[rank].emplace();
    }
  }
}

std::optional<Time> Ring::used() const {
  const auto latest = std::max_element(
      connections_.begin(), connections_.end(),
      [](const auto& a, const auto& b) { return a.last_packet() < b.last_packet(); });
  return latest->last_packet() == Time{} ? std::nullopt : std::optional(latest->last_packet());
}

std::size_t Ring::claimed() const {
  return static_cast<std::size_t>(
      std::count_if(connections_.begin(), connections_.end(),
                    [this](const Connection& each) { return each.is_claimed_in(runs_); }));
}

bool Ring::admits(const wire::InaHeader& header, std::uint32_t mtu) const {
  return wire::is_sound(header, mtu) && header.world.value() == world() &&
         header.packets.value() <= config_.message_packets;
}

bool Ring::is_path_of(std::uint16_t rank, const ConnectionKey& key) const {
  const auto path = path_of(rank);
  return key.source == path.source && key.destination == path.destination;
}

// After a restart of the switch a run is taken up where it is. Later only a message 0 begins
// another, so that what is left of a run that is over does not end those that follow it.
bool Ring::enter(std::uint32_t run, std::uint32_t message) {
  if (run_ == run) {
    return true;
  }
  const bool is_over = std::find(past_.begin(), past_.end(), run) != past_.end();
  if (run_ && (message != 0 || is_over)) {
    return false;
  }
  aggregators_.begin_run();
  past_[runs_ % past_.size()] = run_;
  run_ = run;
  ++runs_;
  return true;
}

}  // namespace tributary::netreduce
