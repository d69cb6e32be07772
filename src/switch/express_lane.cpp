// SPDX-License-Identifier: BSD-3-Clause
#include "switch/express_lane.h"

#include "switch/usual_headers.h"
#include "wire/cursor.h"

namespace tributary::switching {

template <bool has_vlans>
bool ExpressLane::look_at(const Packet& packet, Ticket& ticket) const {
  const auto* headers = wire::Cursor(packet.bytes()).take<UsualHeaders>();
  if (headers == nullptr || classifier_.may_claim(*headers, packet.bytes()) ||
      packet.ingress >= interfaces_.count()) {
    return false;
  }
  const auto& port = interfaces_.port(packet.ingress);
  ticket.bridged = port.bridged();
  return port.up && (ticket.bridged ? bridge_.expects<has_vlans>(packet, *headers, ticket.bridge)
                                    : router_.expects(packet, *headers, port, ticket.router));
}

// These loops are flattened: what they call becomes part of them, as the lane consists of nothing
// else.
template <bool has_vlans>
[[gnu::flatten]] void ExpressLane::look_at_all(Stage stage) {
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < stage.size(); ++i) {
    expected |= std::uint64_t{look_at<has_vlans>(*stage[i], tickets_[i])} << i;
  }
  expected_ = expected;
}

template <bool has_vlans>
[[gnu::flatten]] std::size_t ExpressLane::send_run(std::size_t first, Stage stage, Time now) {
  auto number = first;
  for (; expects(number); ++number) {
    const auto& ticket = tickets_[number];
    const bool sent = ticket.bridged ? bridge_.send<has_vlans>(stage[number], ticket.bridge, now)
                                     : router_.send(stage[number], ticket.router, now);
    if (!sent) {
      break;
    }
  }
  return number;
}

void ExpressLane::look_at(Stage stage) {
  bridge_.has_vlans() ? look_at_all<true>(stage) : look_at_all<false>(stage);
}

std::size_t ExpressLane::send_expected(std::size_t first, Stage stage, Time now) {
  return bridge_.has_vlans() ? send_run<true>(first, stage, now)
                             : send_run<false>(first, stage, now);
}

}  // namespace tributary::switching
