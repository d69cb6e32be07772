// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"
#include "wire/vlan.h"

namespace tributary::switching {

// Most frames begin with these headers. A header is what it is called if the ones before it say so.
struct [[gnu::packed]] UsualHeaders {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;

  bool has_priority_tag() const {
    const auto& tagged = *reinterpret_cast<const wire::TaggedHeader*>(this);
    return ethernet.type.value() == wire::ethertype::vlan &&
           wire::vid_of(tagged.tag.control.value()) == 0;
  }
  bool is_ipv4_without_options() const {
    return ethernet.type.value() == wire::ethertype::ipv4 &&
           ipv4.version_ihl == wire::Ipv4Header{}.version_ihl;
  }
};

}  // namespace tributary::switching
