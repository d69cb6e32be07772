// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocols/list.h"
#include "protocols/netreduce/wire.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::netreduce {

inline constexpr std::size_t members_max = wire::ring_members_max;
// Packets that a ring may hold: of both windows, from all ranks.
inline constexpr std::size_t slots_max = wire::ring_slots_max;

// One ring of a job. Its memory is its own, and taken when the ring is set up.
struct RingConfig {
  std::uint32_t id = 0;                  // the paper's RingID
  std::vector<wire::IpAddress> members;  // by rank; each sends to the next, the last to the first
  std::uint16_t window = 2;              // the paper's N: messages that a rank may have open
  std::uint16_t message_packets = 170;   // of the longest message
  std::uint16_t mtu = 1024;              // payload bytes of a packet: the path MTU of the QPs

  // Of a ring that spans several racks (3.3): members whose packets come to this switch as they
  // sent them, members of each rack of which a switch below adds up the packets that leave it, and
  // the switch above, which adds up what leaves all of these. Without any: all members are local.
  std::vector<wire::IpAddress> local;
  std::vector<std::vector<wire::IpAddress>> racks;
  std::optional<wire::Ipv4Address> parent;

  // The paper's 2N messages.
  std::uint32_t open_messages() const { return 2u * window; }
  std::size_t aggregators() const { return std::size_t{open_messages()} * message_packets; }
  std::size_t slots() const;

  friend bool operator==(const RingConfig&, const RingConfig&) = default;
};

// Settings of the NetReduce engine on one logical switch ([switch.netreduce]).
struct NetReduceConfig {
  static constexpr auto row = protocols::Row::netreduce;

  std::vector<RingConfig> rings;  // each id once
  // Packets that all rings together may hold, those of a controller too, which come and go while
  // the daemon runs.
  std::uint32_t packet_memory = 0;

  // Packets that these rings may hold.
  std::size_t slots() const {
    std::size_t sum = 0;
    for (const auto& ring : rings) {
      sum += ring.slots();
    }
    return sum;
  }

  friend bool operator==(const NetReduceConfig&, const NetReduceConfig&) = default;
};

// What is wrong with a ring: the setting, as the configuration calls it, why, and what helps.
struct RingFault {
  std::string_view setting;
  std::string message;
  std::string hint;
};
// Of that one of config's rings, by itself and beside those before it; no value if nothing is.
std::optional<RingFault> find_fault(const NetReduceConfig& config, std::size_t index);

}  // namespace tributary::netreduce
