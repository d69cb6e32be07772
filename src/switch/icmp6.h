// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/icmp6.h"
#include "wire/ip_address.h"
#include "wire/ipv6.h"

namespace tributary::switching {

// This is an IPv6 packet in its frame; its version and payload length were checked.
struct Datagram6 {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv6Header* ip = nullptr;
  wire::MutableBytes payload;  // behind the fixed header, without what pads the frame
  wire::IpAddress source;
  wire::IpAddress destination;

  std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(sizeof(wire::Ipv6Header) + payload.size());
  }
};
// Returns no value if the packet is not IPv6.
std::optional<Datagram6> parse_ipv6(Packet& packet);

// A link-local address with something else than zeros between its prefix and the identifier of the
// interface is nobody's (RFC 4291, 2.5.6).
constexpr bool is_of_a_link_and_wrong(const wire::IpAddress& address) {
  return address.is_link_local() && address.high() != 0xfe80000000000000;
}

// A datagram carries this for its destination, behind extension headers.
struct Carried6 {
  std::uint8_t next_header = 0;  // fragment: this is a part; routing: a source route goes on
  wire::MutableBytes payload;
  std::uint32_t named_at = 0;  // where the header before says so, from the fixed header on
};
// Returns no value if extension headers are not whole, or are too many.
std::optional<Carried6> carried_by(const Datagram6& datagram);

// Returns the type of an ICMPv6 message, or 0, which no message has, if it is none.
std::uint8_t icmp6_type(const Carried6& carried);
// Returns true if `carried` is a whole ICMPv6 message with a right checksum.
bool is_sound_icmp6(const Datagram6& datagram, const Carried6& carried);

// Looks for the link-layer address of `type` among the options of a message of neighbour discovery,
// and leaves `link` as it is where there is none. Returns false if the options are not whole.
bool find_link(wire::Bytes options, std::uint8_t type, const wire::MacAddress*& link);

// A router sends these messages of RFC 4443. The caller routes the result.

// Says why an error message is sent.
struct Icmp6Error {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;  // packet too big: the next hop's MTU; parameter problem: where it is
};
namespace icmp6_error {
inline constexpr Icmp6Error no_route{wire::Icmp6Header::unreachable, 0, 0};
inline constexpr Icmp6Error beyond_scope{wire::Icmp6Header::unreachable, 2, 0};
inline constexpr Icmp6Error address_unreachable{wire::Icmp6Header::unreachable, 3, 0};
inline constexpr Icmp6Error port_unreachable{wire::Icmp6Header::unreachable, 4, 0};
inline constexpr Icmp6Error hop_limit_exceeded{wire::Icmp6Header::time_exceeded, 0, 0};
constexpr Icmp6Error unknown_next_header(std::uint32_t at) {
  return {wire::Icmp6Header::parameter_problem, 1, at};
}
constexpr Icmp6Error packet_too_big(std::uint16_t mtu) {
  return {wire::Icmp6Header::packet_too_big, 0, mtu};
}
}  // namespace icmp6_error

// Errors are not sent about errors and redirects, nor about what was for a group or came from
// nobody (RFC 4443, 2.4, e).
bool may_answer_with_error(const Datagram6& about);
// Writes the error about `about` into the empty packet `error`, from `source`. Returns false if it
// has no room.
bool make_icmp6_error(Packet& error, const Datagram6& about, const Icmp6Error& kind,
                      const wire::IpAddress& source);

// Turns a sound echo request into its answer: addresses are swapped and extension headers left out.
void turn_into_echo_reply(Packet& packet, const Datagram6& datagram, const Carried6& carried);

}  // namespace tributary::switching
