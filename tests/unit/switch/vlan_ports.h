// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/switch_bench.h"

// A bridge with VLANs 10 and 20, which is itself in VLAN 10.
namespace tributary::test {

using Tag = std::optional<unsigned>;

inline constexpr Tag no_tag = std::nullopt;
inline constexpr PortIndex access_10 = 0;
inline constexpr PortIndex access_20 = 1;
inline constexpr PortIndex trunk = 2;   // 10 and 20
inline constexpr PortIndex native = 3;  // 10, without a tag, and 20 to 29
inline const Ip own_ip(10, 0, 0, 254);

constexpr unsigned priority(unsigned number) {
  return number << wire::vlan_priority_shift;
}

inline forwarding::PortConfig port_in(std::string name, std::uint8_t number, std::uint16_t untagged,
                                      std::vector<forwarding::VidRange> vids) {
  auto port = bridged_port(std::move(name), number);
  port.vlan.untagged = untagged;
  port.vlan.tagged.ranges = std::move(vids);
  return port;
}

inline switching::SwitchConfig four_ports() {
  switching::SwitchConfig config;
  config.id = 1;
  config.table_seed = 1;
  config.ports = {port_in("a10", 0, 10, {}), port_in("a20", 1, 20, {}),
                  port_in("trunk", 2, 0, {{10, 10}, {20, 20}}),
                  port_in("native", 3, 10, {{20, 29}})};
  config.bridge_vlan = 10;
  config.bridge_address = forwarding::InterfaceAddress{own_ip, 24};
  return config;
}

// The ports by which frames left, and their tags, which are removed.
using Exits = std::vector<std::pair<PortIndex, Tag>>;
inline Exits sent(std::vector<PacketPtr>& packets) {
  Exits all;
  for (auto& packet : packets) {
    EXPECT_EQ(packet->vlan, 0) << "the next switch is another one";
    all.emplace_back(packet->egress, take_tag(*packet));
  }
  return all;
}
inline Exits sent(std::vector<PacketPtr>&& packets) {
  return sent(packets);
}

}  // namespace tributary::test
