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

namespace tributary::netreduce {

inline constexpr std::size_t members_max = wire::ring_members_max;
// A ring may hold so many packets, of both windows and from all ranks.
inline constexpr std::size_t slots_max = wire::ring_slots_max;

// Describes one ring of a job. The ring has memory of its own, which is taken when it is set up.
struct RingConfig {
  std::uint32_t id = 0;                  // the paper's RingID
  std::vector<wire::IpAddress> members;  // by rank; each sends to the next, the last to the first
  std::uint16_t window = 2;              // the paper's N: messages that a rank may have open
  std::uint16_t message_packets = 170;   // of the longest message
  std::uint16_t mtu = 1024;              // payload bytes of a packet: the path MTU of the QPs

  // A ring that spans several racks (3.3) names the members whose packets come to this switch as
  // they sent them (`local`), the members of each rack where a switch below adds up the packets
  // that leave it, and the switch above, which adds up what leaves all of these (`parent`). Without
  // any, all members are local.
  std::vector<wire::IpAddress> local;
  std::vector<std::vector<wire::IpAddress>> racks;
  std::optional<wire::IpAddress> parent;

  // Returns the paper's 2N.
  std::uint32_t open_messages() const { return 2u * window; }
  std::size_t aggregators() const { return std::size_t{open_messages()} * message_packets; }
  std::size_t slots() const;

  friend bool operator==(const RingConfig&, const RingConfig&) = default;
};

// These are the settings of the NetReduce engine on one logical switch ([switch.netreduce]).
struct NetReduceConfig {
  static constexpr auto row = protocols::Row::netreduce;

  std::vector<RingConfig> rings;  // each id once
  // All rings together may hold so many packets, including those of a controller, which come and go
  // while the daemon runs.
  std::uint32_t packet_memory = 0;

  // Returns the packets that these rings may hold.
  std::size_t slots() const {
    std::size_t sum = 0;
    for (const auto& ring : rings) {
      sum += ring.slots();
    }
    return sum;
  }

  friend bool operator==(const NetReduceConfig&, const NetReduceConfig&) = default;
};

// Says what is wrong with a ring: the setting, as the configuration calls it, why, and what helps.
struct RingFault {
  std::string_view setting;
  std::string message;
  std::string hint;
};
// Finds what is wrong with that one of config's rings, by itself or beside those before it; no
// value if nothing is.
std::optional<RingFault> find_fault(const NetReduceConfig& config, std::size_t index);

}  // namespace tributary::netreduce
