// SPDX-License-Identifier: BSD-3-Clause
// Here contradictions between the switches of one daemon are found, and the links that join them
// made.
#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "control/config_draft.h"
#include "control/config_interfaces.h"
#include "control/protocol_section.h"

namespace tributary::control {
namespace {

// Remembers who had a value first and complains about the second.
template <class Key>
class Unique {
 public:
  Unique(std::string_view what, Diagnostics& diagnostics)
      : what_(what), diagnostics_(diagnostics) {}

  void add(const Key& key, const std::string& shown, const std::string& owner, Position where) {
    const auto [first, added] = owners_.emplace(key, owner);
    if (!added) {
      diagnostics_.error(where, std::string(what_) + " " + shown + " is that of " + first->second);
    }
  }

 private:
  std::string_view what_;
  Diagnostics& diagnostics_;
  std::map<Key, std::string> owners_;
};

std::string named(const SwitchDraft& draft) {
  return "switch `" + draft.config.name + "`";
}

std::string named(const SwitchDraft& draft, std::size_t port) {
  return "port `" + draft.config.name + ":" + draft.config.ports[port].name + "`";
}

struct ExclusiveUse {
  std::string operator()(const InterfaceDevice& d) const { return "interface " + d.interface; }
  std::string operator()(const TapDevice& d) const { return "interface " + d.interface; }
  std::string operator()(const MemifDevice& d) const {
    return "memif " + d.socket + " id " + std::to_string(d.id) + (d.server ? " server" : " client");
  }
  std::string operator()(const VhostDevice& d) const { return "vhost " + d.socket; }
  std::string operator()(const VirtioUserDevice& d) const { return "virtio_user " + d.socket; }
  std::string operator()(const PciDevice& d) const { return "PCI device " + d.address; }
  std::string operator()(const RingDevice& d) const { return "ring " + d.name; }
  std::string operator()(const PcapDevice& d) const {
    return d.tx.empty() ? std::string() : "file " + d.tx;
  }
  std::string operator()(const RawDevice& d) const {
    return "device " + d.arguments.substr(0, d.arguments.find(','));
  }
  std::string operator()(const InternalLink&) const { return {}; }
};

// A port speaks some language over a socket with this path: two languages do not go over one.
struct SocketUse {
  std::string path;
  std::string language;
};
struct FindSocketUse {
  std::optional<SocketUse> operator()(const MemifDevice& d) const { return {{d.socket, "memif"}}; }
  std::optional<SocketUse> operator()(const VhostDevice& d) const {
    return {{d.socket, "vhost-user"}};
  }
  std::optional<SocketUse> operator()(const VirtioUserDevice& d) const {
    return {{d.socket, "vhost-user"}};
  }
  template <typename Other>
  std::optional<SocketUse> operator()(const Other& /*device*/) const {
    return std::nullopt;
  }
};

void check_sockets(const ConfigDraft& draft, Diagnostics& diagnostics) {
  std::map<std::string, std::string> languages = {
      {draft.daemon.control_socket, "the daemon's control socket"}};
  for (const SwitchDraft& sw : draft.switches) {
    for (std::size_t i = 0; i < sw.devices.size(); ++i) {
      const auto use = sw.devices[i] ? std::visit(FindSocketUse{}, *sw.devices[i]) : std::nullopt;
      if (!use || use->path.empty()) {
        continue;
      }
      const auto [first, added] = languages.emplace(use->path, use->language);
      if (!added && first->second != use->language) {
        diagnostics.error(sw.ports[i]->source().begin,
                          "socket " + use->path + " is in use by " + first->second,
                          "name another one");
      }
    }
  }
}

void check_devices(const ConfigDraft& draft, Diagnostics& diagnostics) {
  std::map<std::string, std::string> users;
  std::size_t devices = 0;
  for (const SwitchDraft& sw : draft.switches) {
    for (std::size_t i = 0; i < sw.devices.size(); ++i) {
      if (!sw.devices[i]) {
        continue;
      }
      const toml::table& source = *sw.ports[i];
      if (++devices == devices_max + 1) {
        diagnostics.error(
            source.source().begin,
            "more than " + std::to_string(devices_max) + " ports with a device in one daemon",
            "split the switches over several daemons, or join them by [[link]]");
      }
      const std::string use = exclusive_use(*sw.devices[i]);
      const auto [user, added] = users.emplace(use, named(sw, i));
      if (!use.empty() && !use.ends_with(' ') && !added) {
        diagnostics.error(source.source().begin, use + " is in use by " + user->second);
      }
    }
  }
}

template <typename Own>
void add_addresses(const SwitchDraft& sw, const Interfaces<Own>& interfaces,
                   Unique<decltype(Own::address)>& addresses) {
  for (const auto& each : interfaces.all) {
    addresses.add(each.address.address, to_string(each.address.address),
                  each.name + " of " + named(sw), each.where);
  }
}

void check_addresses(const ConfigDraft& draft, Diagnostics& diagnostics) {
  Unique<wire::Ipv4Address> addresses("address", diagnostics);
  Unique<wire::IpAddress> addresses6("address", diagnostics);
  for (const SwitchDraft& sw : draft.switches) {
    const auto interfaces = interfaces_of(sw, "address", sw.config.bridge_address,
                                          [](const auto& one) { return one.address; });
    add_addresses(sw, interfaces, addresses);
    add_addresses(sw,
                  interfaces_of(sw, "address6", sw.config.bridge_address6,
                                [](const auto& one) { return one.address6; }),
                  addresses6);
    // The switch's own address may be that of one of its interfaces.
    const auto own = sw.config.address;
    const bool is_interface =
        std::any_of(interfaces.all.begin(), interfaces.all.end(),
                    [&](const auto& each) { return each.address.address == own; });
    if (!own.is_unspecified() && !is_interface) {
      addresses.add(own, to_string(own), named(sw), position_of(*sw.source, "address"));
    }
  }
}

struct PortPlace {
  SwitchDraft* sw = nullptr;
  std::size_t port = 0;
};

std::optional<PortPlace> find_port(ConfigDraft& draft, const LinkDraft& link, std::string_view key,
                                   const PortReference& reference, Diagnostics& diagnostics) {
  std::vector<std::string_view> names;
  for (SwitchDraft& sw : draft.switches) {
    names.push_back(sw.config.name);
    if (sw.config.name != reference.switch_name) {
      continue;
    }
    std::vector<std::string_view> ports;
    for (std::size_t i = 0; i < sw.config.ports.size(); ++i) {
      if (sw.config.ports[i].name == reference.port) {
        return PortPlace{&sw, i};
      }
      ports.push_back(sw.config.ports[i].name);
    }
    diagnostics.error(position_of(*link.source, key),
                      "no port `" + reference.port + "` on switch `" + reference.switch_name + "`",
                      "it has " + joined(ports));
    return std::nullopt;
  }
  diagnostics.error(position_of(*link.source, key), "no switch `" + reference.switch_name + "`",
                    "there are " + joined(names));
  return std::nullopt;
}

// Attaches `place` to `peer` unless it is attached already.
void attach(const PortPlace& place, const PortReference& peer, const LinkDraft& link,
            std::string_view key, Diagnostics& diagnostics) {
  auto& device = place.sw->devices[place.port];
  if (device) {
    const bool linked = std::holds_alternative<InternalLink>(*device);
    diagnostics.error(
        position_of(*link.source, key),
        named(*place.sw, place.port) + (linked ? " is in another link" : " has a device already"),
        "a port is attached to one thing");
    return;
  }
  device = InternalLink{peer.switch_name, peer.port};
}

}  // namespace

std::string exclusive_use(const DeviceConfig& device) {
  return std::visit(ExclusiveUse{}, device);
}

void check_fabric(const ConfigDraft& draft, Diagnostics& diagnostics) {
  Unique<std::string> names("name", diagnostics);
  Unique<unsigned> ids("id", diagnostics);
  Unique<wire::MacAddress> macs("MAC address", diagnostics);
  for (const SwitchDraft& sw : draft.switches) {
    if (!sw.config.name.empty()) {
      names.add(sw.config.name, "`" + sw.config.name + "`", "another switch",
                position_of(*sw.source, "name"));
    }
    if (sw.config.id != 0) {
      ids.add(sw.config.id, std::to_string(sw.config.id), named(sw), position_of(*sw.source, "id"));
    }
    for (std::size_t i = 0; i < sw.config.ports.size(); ++i) {
      if (!sw.config.ports[i].mac.is_zero()) {
        macs.add(sw.config.ports[i].mac, to_string(sw.config.ports[i].mac), named(sw, i),
                 position_of(*sw.ports[i], "mac"));
      }
    }
  }
  check_addresses(draft, diagnostics);
  check_devices(draft, diagnostics);
  check_sockets(draft, diagnostics);
  for (const auto* section : protocol_sections()) {
    if (section->check_fabric != nullptr) {
      section->check_fabric(draft, diagnostics);
    }
  }
}

void connect_links(ConfigDraft& draft, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.count();
  for (const LinkDraft& link : draft.links) {
    if (link.a.port.empty() || link.b.port.empty()) {
      continue;  // it was unreadable, and that is reported
    }
    const auto a = find_port(draft, link, "a", link.a, diagnostics);
    const auto b = find_port(draft, link, "b", link.b, diagnostics);
    if (!a || !b) {
      continue;
    }
    if (a->sw == b->sw) {
      diagnostics.error(position_of(*link.source, "b"), "a link joins two different switches");
      continue;
    }
    const auto mtu_a = a->sw->config.ports[a->port].mtu;
    const auto mtu_b = b->sw->config.ports[b->port].mtu;
    if (mtu_a != mtu_b) {
      diagnostics.error(position_of(*link.source, "b"),
                        "the ends of the link have MTU " + std::to_string(mtu_a) + " and " +
                            std::to_string(mtu_b),
                        "give both ports the same `mtu`");
    }
    attach(*a, link.b, link, "a", diagnostics);
    attach(*b, link.a, link, "b", diagnostics);
  }
  if (!draft.links_sound || diagnostics.count() != errors_before) {
    return;  // a port may only seem to be left out
  }
  for (const SwitchDraft& sw : draft.switches) {
    for (std::size_t i = 0; i < sw.devices.size(); ++i) {
      if (!sw.devices[i]) {
        diagnostics.error(
            sw.ports[i]->source().begin, named(sw, i) + " is attached to nothing",
            "add one of interface, tap, memif, vhost, virtio_user, pci, ring, pcap, device, "
            "or name it in a [[link]]");
      }
    }
  }
}

}  // namespace tributary::control
