// SPDX-License-Identifier: BSD-3-Clause
#include "switch/classifier.h"

#include <algorithm>
#include <cassert>

#include "protocols/engines.h"
#include "wire/ethernet.h"

namespace tributary::switching {

Classifier::Classifier(const engine::Settings& on) {
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    if (!on.of(row).has_value()) {
      continue;
    }
    const auto& protocol = kinds[row]->protocol;
    assert(protocol.ethertype != wire::ethertype::ipv4);
    const auto bit = static_cast<Rows>(1u << row);
    claims_any_ = true;
    by_udp_port_.resize(0x10000);
    confirms_[row] = protocol.confirms;
    for (std::uint32_t port = protocol.udp_ports.first; port <= protocol.udp_ports.last; ++port) {
      by_udp_port_[port] |= bit;
    }
    for (const auto type : {protocol.ethertype, wire::ethertype::ipv6}) {
      if (protocol.goes_by(type)) {
        claim_ethertype(type, bit);
      }
    }
  }
}

// IPv6 may be for an engine that knows it by what its addresses embed.
bool Classifier::may_claim_tagged(wire::Bytes frame) const {
  const auto* headers = wire::Cursor(frame).take<TaggedUsualHeaders>();
  if (headers == nullptr) {
    return true;
  }
  const auto type = headers->link.tag.type.value();
  return type == wire::ethertype::ipv4 ? may_claim_ipv4(headers->ipv4, headers->udp)
                                       : type == wire::ethertype::ipv6 || by_ethertype(type) != 0;
}

void Classifier::claim_ethertype(std::uint16_t number, Rows rows) {
  const auto known = std::ranges::find(ethertypes_, number, &EtherType::number);
  if (known == ethertypes_.end()) {
    ethertypes_.push_back({number, rows});
  } else {
    known->rows |= rows;
  }
}

}  // namespace tributary::switching
