// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstdint>

#include "engine/protocol.h"
#include "engine/settings.h"
#include "forwarding/range_index.h"
#include "packet/fate.h"
#include "switch/usual_headers.h"

namespace tributary::switching {

// A Classifier says which of the protocols that are on claims a frame. As every frame is asked, it
// looks up one number, however many protocols there are. Protocols that share a number are asked in
// the order of their rows.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(const engine::Settings& on);

  // Returns the protocol's row, counted from one, or 0 if none claims the frame. The frame has an
  // Ethernet header.
  std::uint8_t claim_on(const engine::Frame& frame) const {
    auto rows = frame.udp != nullptr ? udp_ports_.find(key_of(frame.udp->destination_port.value()))
                                     : ethertypes_.find(key_of(frame.ethernet->type.value()));
    for (; rows != 0; rows &= rows - 1) {
      const auto row = static_cast<unsigned>(std::countr_zero(rows));
      if (confirms_[row] == nullptr || confirms_[row](frame)) {
        return static_cast<std::uint8_t>(row + 1);
      }
    }
    return 0;
  }

  // Looks at a frame that nobody has parsed, and returns false if surely no protocol claims it.
  // (IPv4 is claimed by ports only.)
  bool may_claim(const UsualHeaders& headers) const {
    if (!claims_any_) {
      return false;
    }
    if (const auto type = headers.ethernet.type.value(); type != wire::ethertype::ipv4) {
      return ethertypes_.find(key_of(type)) != 0;
    }
    return !headers.is_ipv4_without_options() ||
           (headers.ipv4.protocol == wire::ip_protocol::udp &&
            is_udp_port_[headers.udp.destination_port.value()]);
  }

 private:
  // RangeIndex looks at the highest bits first, so the number stands there.
  static constexpr std::uint32_t key_of(std::uint16_t number) {
    return std::uint32_t{number} << 16;
  }

  forwarding::RangeIndex udp_ports_;  // a bit for each row
  forwarding::RangeIndex ethertypes_;
  bool claims_any_ = false;           // some protocol is on
  std::bitset<0x10000> is_udp_port_;  // of a protocol that is on
  std::array<bool (*)(const engine::Frame&), protocols_max> confirms_{};  // by row
  static_assert(protocols_max <= engine::noted::claims);
};

}  // namespace tributary::switching
