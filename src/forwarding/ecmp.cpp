// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/ecmp.h"

namespace tributary::forwarding {

std::uint32_t EcmpHash::operator()(const wire::Ipv4Header& ip, wire::Bytes l4) const {
  const auto addresses = (std::uint64_t{ip.source.value()} << 32) | ip.destination.value();
  std::uint64_t rest = ip.protocol;
  const bool has_ports =
      ip.protocol == wire::ip_protocol::tcp || ip.protocol == wire::ip_protocol::udp;
  if (has_ports && !ip.is_fragment()) {
    wire::Cursor cursor(l4);
    if (const auto* ports = cursor.take<wire::be32>(); ports != nullptr) {
      rest |= std::uint64_t{ports->value()} << 8;
    }
  }
  return static_cast<std::uint32_t>(wire::mix_key(wire::mix_key(addresses, seed_), rest) >> 32);
}

std::uint32_t EcmpHash::operator()(const wire::Ipv6Header& ip, wire::Bytes l4) const {
  std::uint64_t ports = 0;
  if (ip.next_header == wire::ip_protocol::tcp || ip.next_header == wire::ip_protocol::udp) {
    wire::Cursor cursor(l4);
    if (const auto* found = cursor.take<wire::be32>(); found != nullptr) {
      ports = found->value();
    }
  }
  const auto flow = std::uint64_t{ip.flow_label()} << 40 | ports << 8 | ip.next_header;
  auto hash = seed_;
  for (const auto& address : {wire::IpAddress(ip.source), wire::IpAddress(ip.destination)}) {
    hash = wire::mix_key(wire::mix_key(address.high(), hash), address.low());
  }
  return static_cast<std::uint32_t>(wire::mix_key(hash, flow) >> 32);
}

std::uint32_t EcmpHash::operator()(const wire::Ipv4Address& destination) const {
  return static_cast<std::uint32_t>(wire::mix_key(destination.value(), seed_) >> 32);
}

std::uint32_t EcmpHash::operator()(const wire::IpAddress& destination) const {
  const auto upper = wire::mix_key(destination.high(), seed_);
  return static_cast<std::uint32_t>(wire::mix_key(destination.low(), upper) >> 32);
}

}  // namespace tributary::forwarding
