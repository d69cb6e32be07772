// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "packet/clock.h"
#include "packet/packet.h"
#include "wire/ipv4.h"

namespace tributary::switching {

// A router sends these messages of RFC 792. The functions work on frames alone; the caller routes
// the result.

// Says why an error message is sent.
struct IcmpError {
  std::uint8_t type = 0;
  std::uint8_t code = 0;
  std::uint32_t rest = 0;  // fragmentation needed: the MTU of the next hop (RFC 1191)
};
namespace icmp_error {
inline constexpr IcmpError ttl_exceeded{11, 0, 0};
inline constexpr IcmpError net_unreachable{3, 0, 0};
inline constexpr IcmpError host_unreachable{3, 1, 0};
inline constexpr IcmpError protocol_unreachable{3, 2, 0};
inline constexpr IcmpError port_unreachable{3, 3, 0};
constexpr IcmpError fragmentation_needed(std::uint16_t mtu) {
  return {3, 4, mtu};
}
}  // namespace icmp_error

// Returns true if the frame is a whole echo request with a right checksum.
bool is_echo_request(const engine::Frame& frame);
// Turns an echo request into its answer, addresses swapped.
void turn_into_echo_reply(const engine::Frame& frame);

// Errors are not sent about errors, about fragments behind the first, nor about what was for a
// group or a broadcast address (RFC 1812, 4.3.2.7).
bool may_answer_with_error(const engine::Frame& frame);
// Writes the error about `about` into the empty packet `error`, from `source`. Returns false if it
// has no room.
bool make_icmp_error(Packet& error, const engine::Frame& about, const IcmpError& kind,
                     const wire::Ipv4Address& source);

// Allows at most `burst` errors at once and one per `interval` in the long run: errors are a
// courtesy.
class IcmpLimiter {
 public:
  bool allow(Time now);

 private:
  static constexpr Duration interval = std::chrono::milliseconds(5);
  static constexpr int burst = 50;

  Time spent_until_{};
};

}  // namespace tributary::switching
