// SPDX-License-Identifier: BSD-3-Clause
#include "engines/netreduce/ring.h"

#include <algorithm>

#include "packet/pool.h"

namespace tributary::netreduce {

Ring::Ring(const RingConfig& config)
    : config_(config),
      paths_(config),
      connections_(config.members.size(), Connection(config.open_messages())),
      aggregators_(config),
      first_joint_(config.mtu - sizeof(wire::InaHeader)),
      other_joint_(config.mtu) {}

bool Ring::admits(const wire::InaHeader& header) const {
  return wire::is_sound(header, config_.mtu) && header.world.value() == world() &&
         header.packets.value() <= config_.message_packets;
}

bool Ring::is_path_of(std::uint16_t rank, const ConnectionKey& key) const {
  return key.source == config_.members[rank] &&
         key.destination == config_.members[(rank + 1u) % world()];
}

// A run that is over has all its sums; of one that broke off, nobody repeats what waits.
bool Ring::is_at_work(Time now) const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [now](const Connection& connection) { return connection.is_live(now); }) &&
         aggregators_.any_waits();
}

// After a restart of the switch a run is taken up where it is. Later only a message 0 begins
// another, so that what is left of a run that is over does not end the one that follows it.
std::optional<DropReason> Ring::enter(std::uint32_t run, std::uint32_t message, Time now) {
  if (run_ == run) {
    return std::nullopt;
  }
  if (run_ && (message != 0 || past_ == run)) {
    return DropReason::netreduce_stale_run;
  }
  if (is_at_work(now)) {
    return DropReason::netreduce_rank_taken;
  }
  for (auto& connection : connections_) {
    connection.release();
  }
  aggregators_.clear();
  past_ = run_;
  run_ = run;
  ++runs_;
  return std::nullopt;
}

}  // namespace tributary::netreduce
