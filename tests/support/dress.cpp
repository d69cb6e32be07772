// SPDX-License-Identifier: BSD-3-Clause
#include "support/dress.h"

#include "packet/translation.h"
#include "switch/tags.h"

namespace tributary::test {
namespace {

const wire::EthernetHeader* ethernet_in(const Packet& frame) {
  return wire::Cursor(frame.bytes()).take<wire::EthernetHeader>();
}

std::optional<std::uint16_t> take_off_any_tag(Packet& frame) {
  const auto* header = wire::Cursor(frame.bytes()).take<wire::TaggedHeader>();
  if (header == nullptr || !switching::has_tag(header->ethernet)) {
    return std::nullopt;
  }
  const auto control = header->tag.control.value();
  switching::take_off_tag(frame);
  return control;
}

// Who embeds addresses in a datagram of IPv6 has a source with the prefix.
std::optional<wire::EmbeddingPrefix> take_off_ipv6(Packet& frame) {
  const auto* header = wire::Cursor(frame.bytes()).take<Ipv6Headers>();
  if (header == nullptr) {
    return std::nullopt;
  }
  const auto prefix = wire::EmbeddingPrefix::of(wire::IpAddress(header->ip.source));
  const auto headers = headers_over_ipv4(frame, prefix);
  if (!headers) {
    return std::nullopt;
  }
  become_ipv4(frame, *headers);
  return prefix;
}

}  // namespace

void put_on(Packet& frame, const Dress& dress) {
  const auto* ethernet = ethernet_in(frame);
  if (dress.prefix && ethernet->type.value() == wire::ethertype::ipv4) {
    become_ipv6(frame, *dress.prefix);
  }
  if (dress.tag) {
    switching::put_on_tag(frame, *dress.tag);
  }
}

Dress take_off(Packet& frame) {
  const auto tag = take_off_any_tag(frame);
  return {tag, take_off_ipv6(frame)};
}

}  // namespace tributary::test
