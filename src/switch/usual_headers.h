// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::switching {

// Most frames begin with these headers. A header is what it is called if the ones before it say so.
struct [[gnu::packed]] UsualHeaders {
  wire::EthernetHeader ethernet;
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;

  bool is_ipv4_without_options() const {
    return ethernet.type.value() == wire::ethertype::ipv4 &&
           ipv4.version_ihl == wire::Ipv4Header{}.version_ihl;
  }
};

}  // namespace tributary::switching
