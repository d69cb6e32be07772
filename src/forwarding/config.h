// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forwarding/codepoint.h"
#include "forwarding/priorities.h"
#include "packet/clock.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"
#include "wire/vlan.h"

namespace tributary::forwarding {

struct Prefix {
  wire::Ipv4Address network;
  std::uint8_t length = 0;  // bits
};

// An interface has this address, and reaches the prefix around it directly.
struct InterfaceAddress {
  wire::Ipv4Address address;
  std::uint8_t length = 0;  // bits
};

constexpr std::uint32_t prefix_mask(std::uint8_t length) {
  return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}
constexpr bool contains(const Prefix& prefix, const wire::Ipv4Address& address) {
  return ((prefix.network.value() ^ address.value()) & prefix_mask(prefix.length)) == 0;
}
constexpr Prefix prefix_of(const InterfaceAddress& address) {
  return {wire::Ipv4Address(address.address.value() & prefix_mask(address.length)), address.length};
}

// These are the same for IPv6.
struct Prefix6 {
  wire::IpAddress network;
  std::uint8_t length = 0;  // bits

  friend constexpr auto operator<=>(const Prefix6&, const Prefix6&) = default;
};
struct InterfaceAddress6 {
  wire::IpAddress address;
  std::uint8_t length = 0;  // bits
};

constexpr wire::IpAddress network_of(const wire::IpAddress& address, std::uint8_t length) {
  const auto upper = [](unsigned bits) {
    return bits == 0 ? std::uint64_t{0} : ~std::uint64_t{0} << (64 - bits);
  };
  return length <= 64
             ? wire::IpAddress::of_halves(address.high() & upper(length), 0)
             : wire::IpAddress::of_halves(address.high(), address.low() & upper(length - 64u));
}
constexpr bool contains(const Prefix6& prefix, const wire::IpAddress& address) {
  return network_of(address, prefix.length) == prefix.network;
}
constexpr Prefix6 prefix_of(const InterfaceAddress6& address) {
  return {network_of(address.address, address.length), address.length};
}

// Neighbours are to hear from each other at this interval (RFC 5880); after so many packets in a
// row that fail to come, the neighbour is taken for dead.
struct BfdConfig {
  Duration interval = std::chrono::milliseconds(100);
  std::uint8_t multiplier = 3;
};

// These say which addresses a bridge may learn behind a port. Without learning, frames go on all
// the same, and their senders are reached by static entries, or by flooding. With a bound, frames
// that carry one address more, or that of a static entry of another port, are dropped: port
// security.
struct LearningConfig {
  bool on = true;
  std::optional<std::uint32_t> addresses_max{};
};

inline constexpr std::size_t traffic_classes_max = 8;

// What leaves by the ports of a switch is divided into classes, each with a queue of its own in
// each port.
struct TrafficClass {
  std::string name;
  std::vector<Codepoint> codepoints;  // of its packets
  // Priorities of the tags of its packets, of those that came by ports that trust tags. Without
  // them and without codepoints it takes what no other class takes.
  std::optional<Priorities> pcp{};
  bool strict = false;               // it goes before all that are not
  std::uint32_t weight = 1;          // its share of the line, unless it is strict
  std::uint64_t rate_bps = 0;        // at most, on the line; 0: as the port
  std::uint32_t capacity_bytes = 0;  // of the port's queue; 0: an even part of what others leave
  std::uint32_t ecn_threshold_packets = 85;  // as QueueConfig::ecn_threshold_packets
  // So many packets above the threshold, all are marked, and below that a rising part of them, as
  // by RED (Floyd and Jacobson, 1993); 0: all are marked from the threshold on.
  std::uint32_t ecn_ramp_packets = 0;
  // The class is lossless by the ports with priority flow control, where its frames are of this
  // priority, whatever their markings; no value: it drops what it has no room for.
  std::optional<std::uint8_t> pfc_priority{};

  bool takes_the_rest() const { return codepoints.empty() && !pcp; }
};

// A range has all VLAN identifiers from the first to the last.
struct VidRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

// These VLAN identifiers are ascending, and each is there once.
struct VidSet {
  std::vector<VidRange> ranges;

  bool empty() const { return ranges.empty(); }
  bool contains(std::uint16_t vid) const {
    return std::any_of(ranges.begin(), ranges.end(), [vid](const VidRange& range) {
      return range.first <= vid && vid <= range.last;
    });
  }
};

// These are the VLANs of a bridged port (IEEE 802.1Q): one for frames that come and go without a
// tag, and those whose frames come and go with theirs.
struct VlanConfig {
  std::uint16_t untagged = 0;  // 0: frames without a tag are dropped
  VidSet tagged;

  bool any() const { return untagged != 0 || !tagged.empty(); }
  bool carries(std::uint16_t vid) const { return untagged == vid || tagged.contains(vid); }
};

// A line whose rate is not known is taken to have this one.
inline constexpr std::uint64_t line_rate_usual = 10'000'000'000;

// This is the egress queue of a port.
struct QueueConfig {
  std::uint64_t rate_bps = 0;                  // on the line, overhead included; 0: not shaped
  std::uint32_t capacity_bytes = 1024 * 1024;  // of waiting frames; beyond it the tail is dropped
  std::uint32_t ecn_threshold_packets = 85;    // ECT packets behind more are marked; 0: never
  // These are the switch's classes, filled in by whoever builds it; none: one queue for all.
  std::vector<TrafficClass> classes{};
};

// A port and its neighbour keep each other from overrunning their queues by IEEE 802.3 PAUSE, or by
// priority flow control (IEEE 802.1Qbb).
enum class FlowControl : std::uint8_t { off, pause, pfc };

inline constexpr std::array<std::string_view, 3> flow_control_names{"off", "pause", "pfc"};
constexpr std::string_view name(FlowControl mode) {
  return flow_control_names[static_cast<std::size_t>(mode)];
}

struct FlowControlConfig {
  FlowControl mode = FlowControl::off;
  std::uint32_t xoff_bytes = 0;  // 0: what the headroom leaves
  std::uint32_t xon_bytes = 0;   // 0: half of xoff
  // This time passes from reaching xoff until the neighbour has ceased to send: both ends may sleep
  // for a millisecond, and a shaper may be ahead of its line by another.
  Duration reaction = std::chrono::milliseconds(3);
  Priorities lossless{};  // with priority flow control; others are dropped where there is no room
};

// One of several next hops is chosen by a policy; forwarding/policy.h has its function.
enum class Policy : std::uint8_t { ecmp, flowlet, adaptive, static_trees };

// Operators call the policies so, in the order of the enumerators.
struct PolicyName {
  std::string_view text;
  bool ordinary;  // it serves ordinary packets too, not only those of reductions
};
inline constexpr std::array policy_names{
    PolicyName{"ecmp", true},
    PolicyName{"flowlet", true},
    PolicyName{"adaptive", true},
    PolicyName{"static", false},
};
constexpr std::string_view name(Policy policy) {
  return policy_names[static_cast<std::size_t>(policy)].text;
}

// Packets of reductions are told apart from all others.
struct Policies {
  Policy ordinary = Policy::ecmp;
  Policy reduction = Policy::adaptive;
};

struct SelectionConfig {
  Policies policies;                 // of groups that do not have their own
  std::uint64_t reduction_seed = 0;  // of the hash of block and leader; one for each level
  Duration flowlet_gap = std::chrono::microseconds(500);
  std::uint32_t trees = 1;      // static: how many trees the blocks take in turn; not 0
  std::uint64_t tree_seed = 1;  // static: draws their roots
};

// A lab cable does this to packets. Probabilities are per packet, 0 to 1.
struct ImpairmentConfig {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // held back until `reorder_gap` later packets have passed
  double corrupt = 0;  // one random bit flipped
  Duration delay{};
  Duration jitter{};  // uniform, added to delay
  std::uint64_t seed = 1;
  std::uint32_t reorder_gap = 3;

  bool any() const {
    return loss > 0 || duplicate > 0 || reorder > 0 || corrupt > 0 || delay > Duration{} ||
           jitter > Duration{};
  }
};

// This is a port of a logical switch. With an address of either version of IP it is routed; without
// one it belongs to the bridge.
struct PortConfig {
  std::string name;
  wire::MacAddress mac;  // if zero, filled in by whoever builds the switch
  std::optional<InterfaceAddress> address;
  std::optional<InterfaceAddress6> address6;
  bool advertise6 = false;   // hosts are told of the router, and of the prefix of address6
  std::uint16_t mtu = 1500;  // IP bytes, without the Ethernet header
  // Frames come from a kernel of this machine, which may leave their checksums to hardware.
  bool from_kernel = true;
  // The class of a frame that comes by this port goes by the priority of its tag, not by its
  // codepoint.
  bool trusts_tags = false;
  LearningConfig learning;  // of a bridged port
  VlanConfig vlan;          // of a bridged port; if no port of a bridge has any, it knows no VLANs
  QueueConfig queue;
  FlowControlConfig flow;
  std::uint64_t line_bps = 0;  // of the device, filled in like `mac`; 0: unknown
  ImpairmentConfig impair_in;
  ImpairmentConfig impair_out;

  bool is_routed() const { return address || address6; }
};

// Returns the length of the largest frame of a port, or of one that came by it and leaves by
// another: where there are VLANs, it has a tag.
inline std::uint32_t frame_bytes_max(const PortConfig& port) {
  const auto tag_bytes = port.vlan.any() ? sizeof(wire::VlanTag) : 0;
  return static_cast<std::uint32_t>(port.mtu + sizeof(wire::EthernetHeader) + tag_bytes);
}

}  // namespace tributary::forwarding
