// SPDX-License-Identifier: BSD-3-Clause
#include "support/fat_tree.h"

#include <string>

namespace tributary::test {
namespace {

wire::Ipv4Address ip(unsigned a, unsigned b, unsigned c, unsigned d) {
  return wire::Ipv4Address{(a << 24) | (b << 16) | (c << 8) | d};
}

forwarding::PortConfig make_port(const FatTree& shape, std::string name, wire::Ipv4Address address,
                                 std::uint8_t length) {
  forwarding::PortConfig port;
  port.name = std::move(name);
  port.address = forwarding::InterfaceAddress{address, length};
  port.queue.rate_bps = shape.rate_bps;
  port.impair_in = shape.impair;
  return port;
}

std::string leaf_name(unsigned leaf) {
  return "leaf" + std::to_string(leaf);
}
std::string spine_name(unsigned spine) {
  return "spine" + std::to_string(spine);
}

control::SwitchSection make_leaf(const FatTree& shape, unsigned leaf, FabricSpec& fabric) {
  control::SwitchSection section;
  auto& config = section.config;
  config.name = leaf_name(leaf);
  config.id = static_cast<std::uint16_t>(leaf);
  config.address = ip(10, leaf, 255, 1);
  config.protocols.emplace(shape.canary);
  if (shape.panama) {
    config.protocols.emplace(*shape.panama);
  }
  for (unsigned host = 1; host <= shape.hosts_per_leaf; ++host) {
    const auto name = "h" + std::to_string(host);
    config.ports.push_back(make_port(shape, name, ip(10, leaf, host, 1), 24));
    section.devices.push_back(control::TapDevice{config.name + name});
    fabric.hosts.push_back({config.name, name, ip(10, leaf, host, 2), ip(10, leaf, host, 1)});
  }
  std::vector<wire::Ipv4Address> up;
  for (unsigned spine = 1; spine <= shape.spines; ++spine) {
    config.ports.push_back(make_port(shape, spine_name(spine), ip(10, 100 + spine, leaf, 1), 30));
    section.devices.push_back(control::InternalLink{spine_name(spine), config.name});
    up.push_back(ip(10, 100 + spine, leaf, 2));
    config.routes.push_back({{ip(10, 100 + spine, 0, 0), 16}, {up.back()}});
  }
  if (!up.empty()) {
    config.routes.push_back({{ip(0, 0, 0, 0), 0}, up});
  }
  return section;
}

control::SwitchSection make_spine(const FatTree& shape, unsigned spine) {
  control::SwitchSection section;
  auto& config = section.config;
  config.name = spine_name(spine);
  config.id = static_cast<std::uint16_t>(100 + spine);
  config.address = ip(10, 100 + spine, 255, 1);
  if (shape.panama) {
    config.protocols.emplace(*shape.panama);
  }
  if (shape.spines_aggregate) {
    config.protocols.emplace(shape.canary);
  }
  for (unsigned leaf = 1; leaf <= shape.leaves; ++leaf) {
    config.ports.push_back(make_port(shape, leaf_name(leaf), ip(10, 100 + spine, leaf, 2), 30));
    section.devices.push_back(control::InternalLink{leaf_name(leaf), config.name});
    config.routes.push_back({{ip(10, leaf, 0, 0), 16}, {ip(10, 100 + spine, leaf, 1)}});
  }
  return section;
}

}  // namespace

FabricSpec make_fat_tree(const FatTree& shape) {
  FabricSpec fabric;
  for (unsigned leaf = 1; leaf <= shape.leaves; ++leaf) {
    fabric.switches.push_back(make_leaf(shape, leaf, fabric));
  }
  for (unsigned spine = 1; spine <= shape.spines; ++spine) {
    fabric.switches.push_back(make_spine(shape, spine));
  }
  return fabric;
}

}  // namespace tributary::test
