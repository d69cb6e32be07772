// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>

namespace tributary {

// These are the reasons why a packet went no further. The names are what operators see; a new
// reason gets a line here and nothing else. Those of a protocol stand in its folder.
#define TRIBUTARY_DROP_REASONS(X)                                       \
  X(truncated, "frame shorter than its headers say")                    \
  X(source_group_mac, "Ethernet source is a group address")             \
  X(other_mac, "routed port: the frame is for somebody else")           \
  X(bridge_reserved, "to 01:80:c2:00:00:0x, or MAC control")            \
  X(bridge_same_port, "destination is where the frame came from")       \
  X(bridge_no_port, "nowhere to flood to")                              \
  X(bridge_port_security, "source address that the port may not have")  \
  X(vlan_not_allowed, "of a VLAN that the port does not carry")         \
  X(vlan_untagged, "without a VLAN, and the port has none for that")    \
  X(vlan_nested, "its next tag would be taken for the port's")          \
  X(unknown_ethertype, "for the router itself, of a protocol it lacks") \
  X(ip_malformed, "version, header length, total length")               \
  X(ip_checksum, "IPv4 header checksum")                                \
  X(ip_martian, "source or destination that cannot be routed")          \
  X(ip_not_for_us, "group or broadcast that the router does not serve") \
  X(no_route, "no prefix matches")                                      \
  X(next_hops_down, "every next hop's port is down")                    \
  X(ttl_exceeded, "TTL ended; raw Canary would go back")                \
  X(fragmentation_needed, "larger than the egress MTU")                 \
  X(icmp_malformed, "echo request too short or with a wrong checksum")  \
  X(arp_malformed, "not IPv4 over Ethernet, or not from its sender")    \
  X(arp_unresolved, "next hop did not answer in time")                  \
  X(arp_queue_full, "too many packets wait for the same answer")        \
  X(bfd_malformed, "BFD: not what RFC 5880 accepts")                    \
  X(bfd_ttl, "BFD: TTL or hop limit not 255: from beyond a hop")        \
  X(bfd_no_session, "BFD: from nobody that is watched")                 \
  X(ip6_malformed, "IPv6: version, payload length, extension headers")  \
  X(ip6_martian, "IPv6 source or destination of no use")                \
  X(ip6_scope, "link-local: not from one link to another")              \
  X(ip6_no_route, "no IPv6 prefix matches")                             \
  X(hop_limit_exceeded, "answered with ICMPv6 time exceeded")           \
  X(packet_too_big, "IPv6 packet larger than the egress MTU")           \
  X(icmp6_malformed, "echo request too short or with a wrong checksum") \
  X(nd_malformed, "neighbour discovery: not as RFC 4861 has it")        \
  X(nd_unresolved, "IPv6 next hop did not answer in time")              \
  X(nd_queue_full, "too many packets wait for the same IPv6 neighbour") \
  X(local_unserved, "addressed to the switch, no service there")        \
  X(port_down, "egress port has no link")                               \
  X(no_buffer, "packet pool exhausted")                                 \
  X(handover_full, "ring to the owning core full")                      \
  X(no_handler, "its operator is a handler that is not loaded here")    \
  X(handler_too_slow, "its operator is a handler that took too long")

enum class DropReason : std::uint8_t {
#define TRIBUTARY_ENUMERATOR(reason, why) reason,
  TRIBUTARY_DROP_REASONS(TRIBUTARY_ENUMERATOR)
#undef TRIBUTARY_ENUMERATOR
};

// Operators see the name of a reason; the reference says why, too.
struct DropText {
  std::string_view name;
  std::string_view why;
};

inline constexpr DropText common_drop_reasons[] = {
#define TRIBUTARY_TEXT(reason, why) {#reason, why},
    TRIBUTARY_DROP_REASONS(TRIBUTARY_TEXT)
#undef TRIBUTARY_TEXT
};

// The reasons of the protocols come behind these: each protocol has room for some, in the order of
// protocols/list.h.
inline constexpr std::size_t protocol_drop_reasons_first = 48;
inline constexpr std::size_t drop_reasons_per_protocol = 24;
inline constexpr std::size_t protocols_max = 8;
inline constexpr std::size_t drop_reasons_max =
    protocol_drop_reasons_first + protocols_max * drop_reasons_per_protocol;
static_assert(std::size(common_drop_reasons) <= protocol_drop_reasons_first);
static_assert(drop_reasons_max <= 256);

constexpr DropReason protocol_drop_reason(std::size_t row, std::size_t number) {
  return static_cast<DropReason>(protocol_drop_reasons_first + row * drop_reasons_per_protocol +
                                 number);
}

using DropCounts = std::array<std::uint64_t, drop_reasons_max>;

// A Ledger tells what became of the packets of one core of one logical switch, in two accounts.
// Received packets meet exactly one fate: received = forwarded + absorbed + dropped(). A packet
// that is kept (aggregated, or waiting for ARP) counts as absorbed; what comes of it later belongs
// to the second account.
// Originated packets are made here or released after being kept: sums, results for children, ARP,
// ICMP, flood copies. They are sent, or lost for a reason: originated = sent + lost().
// What leaves a port after that, and what its queue drops, is the port's own account.
struct Ledger {
  std::uint64_t received = 0;
  std::uint64_t forwarded = 0;  // went on their way; a flooded packet counts once
  std::uint64_t absorbed = 0;   // consumed, kept, or answered by the switch itself
  DropCounts drops{};           // of received packets
  std::uint64_t originated = 0;
  std::uint64_t sent = 0;
  DropCounts losses{};  // of originated packets

  void drop(DropReason reason) { ++drops[static_cast<std::size_t>(reason)]; }
  void lose(DropReason reason) { ++losses[static_cast<std::size_t>(reason)]; }
  std::uint64_t dropped() const { return total(drops); }
  std::uint64_t dropped(DropReason reason) const { return drops[static_cast<std::size_t>(reason)]; }
  std::uint64_t lost() const { return total(losses); }
  std::uint64_t lost(DropReason reason) const { return losses[static_cast<std::size_t>(reason)]; }
  bool balanced() const {
    return received == forwarded + absorbed + dropped() && originated == sent + lost();
  }

  Ledger& operator+=(const Ledger& other) {
    received += other.received;
    forwarded += other.forwarded;
    absorbed += other.absorbed;
    originated += other.originated;
    sent += other.sent;
    for (std::size_t i = 0; i < drop_reasons_max; ++i) {
      drops[i] += other.drops[i];
      losses[i] += other.losses[i];
    }
    return *this;
  }

 private:
  static std::uint64_t total(const DropCounts& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
};

}  // namespace tributary
