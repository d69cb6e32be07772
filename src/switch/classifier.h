// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/protocol.h"
#include "engine/settings.h"
#include "packet/fate.h"
#include "switch/usual_headers.h"

namespace tributary::switching {

// A Classifier says which of the protocols that are on claims a frame. As every frame is asked, it
// reads one place of a table, however many protocols there are. Protocols that share a number are
// asked in the order of their rows.
class Classifier {
 public:
  Classifier() = default;
  explicit Classifier(const engine::Settings& on);

  // Returns the protocol's row, counted from one, or 0 if none claims the frame. The frame has an
  // Ethernet header.
  std::uint8_t claim_on(const engine::Frame& frame) const {
    if (!claims_any_) {
      return 0;
    }
    unsigned rows = frame.udp != nullptr ? by_udp_port_[frame.udp->destination_port.value()]
                                         : by_ethertype(frame.ethernet->type.value());
    for (; rows != 0; rows &= rows - 1) {
      const auto row = static_cast<unsigned>(std::countr_zero(rows));
      if (confirms_[row] == nullptr || confirms_[row](frame)) {
        return static_cast<std::uint8_t>(row + 1);
      }
    }
    return 0;
  }

  // Looks at a frame that nobody has parsed and that begins with `headers`, and returns false if
  // surely no protocol claims it. (IPv4 is claimed by ports only.)
  bool may_claim(const UsualHeaders& headers, wire::Bytes frame) const {
    if (!claims_any_) {
      return false;
    }
    if (const auto type = headers.ethernet.type.value(); type != wire::ethertype::ipv4) {
      return by_ethertype(type) != 0 || (headers.has_priority_tag() && may_claim_tagged(frame));
    }
    return may_claim_ipv4(headers.ipv4, headers.udp);
  }

 private:
  // This has a bit for each protocol that is on, by its row.
  using Rows = std::uint8_t;
  static_assert(protocols_max <= std::numeric_limits<Rows>::digits);
  struct EtherType {
    std::uint16_t number;
    Rows rows;
  };

  Rows by_ethertype(std::uint16_t number) const {
    for (const auto& type : ethertypes_) {
      if (type.number == number) {
        return type.rows;
      }
    }
    return 0;
  }

  bool may_claim_ipv4(const wire::Ipv4Header& ip, const wire::UdpHeader& udp) const {
    return ip.version_ihl != wire::Ipv4Header{}.version_ihl ||
           (ip.protocol == wire::ip_protocol::udp &&
            by_udp_port_[udp.destination_port.value()] != 0);
  }
  // Says the same of a frame with a priority tag.
  bool may_claim_tagged(wire::Bytes frame) const;

  void claim_ethertype(std::uint16_t number, Rows rows);

  std::vector<Rows> by_udp_port_;      // empty where no protocol is on
  std::vector<EtherType> ethertypes_;  // that some protocol goes by
  bool claims_any_ = false;            // some protocol is on
  std::array<bool (*)(const engine::Frame&), protocols_max> confirms_{};  // by row
  static_assert(protocols_max <= engine::noted::claims);
};

}  // namespace tributary::switching
