// SPDX-License-Identifier: BSD-3-Clause
#include "support/three_levels.h"

#include <string>
#include <utility>
#include <vector>

namespace tributary::test {
namespace {

using wire::Ipv4Address;

// Plane s is spine s of every pod and its cores: 10.(100+s).p.x is what spine s of pod p has below
// it, 10.(100+s).(200+c).x what core c of the plane has.
constexpr unsigned first_plane = 100;
constexpr unsigned first_core = 200;

Ipv4Address address_of(unsigned b, unsigned c, unsigned d) {
  return Ipv4Address{(10u << 24) | (b << 16) | (c << 8) | d};
}
// These are the two ends of the link number `link` (from 1) of a /24.
Ipv4Address lower_end(unsigned b, unsigned c, unsigned link) {
  return address_of(b, c, 4 * link - 3);
}
Ipv4Address upper_end(unsigned b, unsigned c, unsigned link) {
  return address_of(b, c, 4 * link - 2);
}

std::string name_of_leaf(unsigned pod, unsigned leaf) {
  return "p" + std::to_string(pod) + "leaf" + std::to_string(leaf);
}
std::string name_of_spine(unsigned pod, unsigned spine) {
  return "p" + std::to_string(pod) + "spine" + std::to_string(spine);
}
std::string name_of_core(unsigned plane, unsigned core) {
  return "core" + std::to_string(plane) + "-" + std::to_string(core);
}

control::SwitchSection section_of(const ThreeLevels& shape, std::string name, unsigned id,
                                  Ipv4Address address) {
  control::SwitchSection section;
  section.config.name = std::move(name);
  section.config.id = static_cast<std::uint16_t>(id);
  section.config.address = address;
  section.config.fdb_capacity = 16;
  section.config.protocols.emplace(shape.canary);
  return section;
}

forwarding::PortConfig port_of(const ThreeLevels& shape, std::string name, Ipv4Address own) {
  forwarding::PortConfig port;
  port.name = std::move(name);
  port.address = forwarding::InterfaceAddress{own, 30};
  port.impair_in.loss = shape.loss;
  return port;
}

void add_link(const ThreeLevels& shape, control::SwitchSection& section, const std::string& peer,
              Ipv4Address own) {
  section.config.ports.push_back(port_of(shape, peer, own));
  section.devices.push_back(control::InternalLink{peer, section.config.name});
}

void add_route(control::SwitchSection& section, forwarding::Prefix prefix,
               std::vector<Ipv4Address> via) {
  section.config.routes.push_back({prefix, std::move(via), {}, {}});
}

control::SwitchSection leaf_of(const ThreeLevels& shape, unsigned pod, unsigned leaf,
                               FabricSpec& fabric) {
  auto section =
      section_of(shape, name_of_leaf(pod, leaf), 100 * pod + leaf, address_of(pod, leaf, 254));
  section.config.selection.reduction_seed = shape.leaf_seed;
  for (unsigned host = 1; host <= shape.hosts_per_leaf; ++host) {
    auto port = port_of(shape, "h" + std::to_string(host), lower_end(pod, leaf, host));
    port.impair_out.loss = shape.loss;
    section.config.ports.push_back(port);
    section.devices.push_back(control::TapDevice{section.config.name + port.name});
    fabric.hosts.push_back(
        {section.config.name, port.name, upper_end(pod, leaf, host), lower_end(pod, leaf, host)});
  }
  std::vector<Ipv4Address> up;
  for (unsigned spine = 1; spine <= shape.spines_per_pod; ++spine) {
    const auto plane = first_plane + spine;
    add_link(shape, section, name_of_spine(pod, spine), lower_end(plane, pod, leaf));
    up.push_back(upper_end(plane, pod, leaf));
    add_route(section, {address_of(plane, 0, 0), 16}, {up.back()});
  }
  add_route(section, {Ipv4Address{}, 0}, std::move(up));
  return section;
}

control::SwitchSection spine_of(const ThreeLevels& shape, unsigned pod, unsigned spine) {
  const auto plane = first_plane + spine;
  auto section = section_of(shape, name_of_spine(pod, spine), 100 * pod + 50 + spine,
                            address_of(plane, pod, 254));
  section.config.selection.reduction_seed = shape.spine_seed;
  for (unsigned leaf = 1; leaf <= shape.leaves_per_pod; ++leaf) {
    add_link(shape, section, name_of_leaf(pod, leaf), upper_end(plane, pod, leaf));
    add_route(section, {address_of(pod, leaf, 0), 24}, {lower_end(plane, pod, leaf)});
  }
  std::vector<Ipv4Address> up;
  for (unsigned core = 1; core <= shape.cores_per_spine; ++core) {
    add_link(shape, section, name_of_core(spine, core), lower_end(plane, first_core + core, pod));
    up.push_back(upper_end(plane, first_core + core, pod));
    add_route(section, {address_of(plane, first_core + core, 0), 24}, {up.back()});
  }
  add_route(section, {Ipv4Address{}, 0}, std::move(up));
  return section;
}

control::SwitchSection core_of(const ThreeLevels& shape, unsigned spine, unsigned core) {
  const auto plane = first_plane + spine;
  auto section = section_of(shape, name_of_core(spine, core), 10'000 + 100 * spine + core,
                            address_of(plane, first_core + core, 254));
  for (unsigned pod = 1; pod <= shape.pods; ++pod) {
    const auto down = lower_end(plane, first_core + core, pod);
    add_link(shape, section, name_of_spine(pod, spine), upper_end(plane, first_core + core, pod));
    add_route(section, {address_of(pod, 0, 0), 16}, {down});
    add_route(section, {address_of(plane, pod, 0), 24}, {down});
  }
  return section;
}

}  // namespace

FabricSpec make_three_levels(const ThreeLevels& shape) {
  FabricSpec fabric;
  for (unsigned pod = 1; pod <= shape.pods; ++pod) {
    for (unsigned leaf = 1; leaf <= shape.leaves_per_pod; ++leaf) {
      fabric.switches.push_back(leaf_of(shape, pod, leaf, fabric));
    }
    for (unsigned spine = 1; spine <= shape.spines_per_pod; ++spine) {
      fabric.switches.push_back(spine_of(shape, pod, spine));
    }
  }
  for (unsigned spine = 1; spine <= shape.spines_per_pod; ++spine) {
    for (unsigned core = 1; core <= shape.cores_per_spine; ++core) {
      fabric.switches.push_back(core_of(shape, spine, core));
    }
  }
  return fabric;
}

}  // namespace tributary::test
