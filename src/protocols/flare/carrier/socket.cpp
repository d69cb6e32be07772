// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/carrier/socket.h"

#include <utility>
#include <vector>

#include "host/transport/flow_senders.h"
#include "host/transport/group_socket.h"
#include "protocols/flare/wire.h"

namespace tributary::host {

Result<wire::Ipv4Address> flare_group_of(const std::string& text) {
  return parse_group(text, "a reduction tree");
}

Result<DatagramSocket> open_flare_socket(const wire::IpAddress& local,
                                         std::optional<wire::Ipv4Address> group, std::uint8_t tos) {
  const auto link = group_link_of(local);
  if (!link) {
    return tl::make_unexpected(link.error());
  }
  std::vector<wire::Ipv4Address> groups;
  if (group) {
    groups.push_back(*group);
  }
  auto opened = open_group_socket(*link, wire::flare_udp_port, groups);
  if (!opened) {
    return opened;
  }
  auto senders = open_flow_senders(local, [&] { return open_group_sender(*link, tos); });
  if (!senders) {
    return tl::make_unexpected(senders.error());
  }
  opened->senders = std::move(*senders);
  return opened;
}

}  // namespace tributary::host
