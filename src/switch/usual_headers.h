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
    return ethernet.type.value() == wire::ethertype::vlan &&
           wire::vid_of(tagged().tag.control.value()) == 0;
  }
  // Returns the type of what is behind the link's header, and behind a priority tag.
  std::uint16_t carried_type() const {
    return has_priority_tag() ? tagged().tag.type.value() : ethernet.type.value();
  }
  bool is_ipv4_without_options() const {
    return ethernet.type.value() == wire::ethertype::ipv4 &&
           ipv4.version_ihl == wire::Ipv4Header{}.version_ihl;
  }

 private:
  const wire::TaggedHeader& tagged() const {
    return *reinterpret_cast<const wire::TaggedHeader*>(this);
  }
};

// They are behind a tag of some frames.
struct [[gnu::packed]] TaggedUsualHeaders {
  wire::TaggedHeader link;
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;
};

}  // namespace tributary::switching
