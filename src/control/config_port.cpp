// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "control/socket_file.h"

namespace tributary::control {
namespace {

constexpr std::size_t interface_bytes_max = 15;  // IFNAMSIZ, less the terminating zero

constexpr Word<InterfaceDevice::Driver> drivers[] = {
    {"af_packet", InterfaceDevice::Driver::af_packet}, {"af_xdp", InterfaceDevice::Driver::af_xdp}};
constexpr Word<bool> socket_roles[] = {{"server", true}, {"client", false}};

constexpr Option<DeviceConfig> device(std::string_view key, std::string_view values,
                                      std::string_view help) {
  return option::by_hand<DeviceConfig>(key, Apply::restart, values, help);
}
constexpr Option<DeviceConfig> device_table[] = {
    device("interface", "up to 15 bytes",
           "`\"veth-h1\"`: an existing interface, by AF_PACKET or AF_XDP"),
    device("driver", "`\"af_packet\"`, `\"af_xdp\"`", "of `interface`")
        .default_is("`\"af_packet\"`"),
    device("tap", "up to 15 bytes", "`\"tap0\"`: a TAP interface that the daemon makes"),
    device("memif", "up to 107 bytes, no comma",
           "`\"/run/x.sock\"`: shared memory with another process"),
    device("memif_id", "0 to 4294967295", "of `memif`").default_is("0"),
    device("memif_role", "`\"server\"`, `\"client\"`", "of `memif`").default_is("`\"client\"`"),
    device("vhost", "up to 107 bytes, no comma",
           "`\"/run/vm.sock\"`: the virtio network device of a virtual machine, by vhost-user"),
    device("vhost_role", "`\"server\"`, `\"client\"`", "of `vhost`; the server makes the socket")
        .default_is("`\"server\"`"),
    device("virtio_user", "up to 107 bytes, no comma",
           "`\"/run/vm.sock\"`: the other side of such a socket, in place of a virtual machine"),
    device("pci", "`\"0000:01:00.0\"`", "a network card bound to `vfio-pci`"),
    device("ring", {}, "`\"r0\"`: a loop inside the process"),
    device("pcap", "no comma in a path",
           "`{ rx = \"a.pcap\", tx = \"b.pcap\", infinite = false }` replays and records files; "
           "`infinite` replays for ever; a list of files in `rx` is a queue for each"),
    device("device", "up to 1024 bytes", "`\"net_null0\"`: DPDK device arguments as they are"),
    device("queues", "1 to 64 (`virtio_user`: to 8), `\"auto\"`",
           "of `interface`, `memif`, `vhost` and `virtio_user` (the same at both ends), `pci` and "
           "`device`")
        .default_is("1; of `pci` `\"auto\"`"),
};

void read_impairments(Reader& reader, forwarding::PortConfig& port) {
  const auto read_into = [&](std::string_view key, forwarding::ImpairmentConfig& out) {
    reader.table(key, [&](Reader& child) { read_options(child, impairment_options, out); });
  };
  read_into("impair", port.impair_in);
  port.impair_out = port.impair_in;
  read_into("impair_in", port.impair_in);
  read_into("impair_out", port.impair_out);
  if (reader.has("impair") && (reader.has("impair_in") || reader.has("impair_out"))) {
    reader.error("impair", "`impair` is both directions, beside a table for one of them",
                 "keep either `impair`, or `impair_in` and `impair_out`");
  }
}

// The kernel takes such a name for an interface (dev_valid_name).
void read_interface(Reader& reader, std::string_view key, std::string& out) {
  reader.text(key, out, interface_bytes_max);
  if (out == "." || out == ".." || out.find_first_of("/: ,") != std::string::npos) {
    reader.error(key, "`" + out + "` is no name of an interface");
  }
}

void read_queues(Reader& reader, std::uint16_t& out, std::uint16_t most = queues_max) {
  if (reader.is_text("queues", "auto")) {
    out = queues_automatic;
  } else if (reader.source()["queues"].is_string()) {
    reader.error("queues", "`queues` is no number of them",
                 "\"auto\", or from 1 to " + std::to_string(most) + " without quotes");
  } else {
    reader.integer<std::uint16_t>("queues", out, {1, most});
  }
}

DeviceConfig read_interface_device(Reader& reader) {
  InterfaceDevice device;
  read_interface(reader, "interface", device.interface);
  reader.choice("driver", device.driver, drivers);
  read_queues(reader, device.queues);
  return device;
}

DeviceConfig read_tap(Reader& reader) {
  TapDevice device;
  read_interface(reader, "tap", device.interface);
  return device;
}

// Device arguments are separated by commas: a comma in a path would become another argument.
void check_path(Reader& reader, std::string_view key, const std::string& path) {
  if (path.find(',') != std::string::npos) {
    reader.error(key, "`" + std::string(key) + "` cannot contain a comma");
  }
}

void read_path(Reader& reader, std::string_view key, std::string& out) {
  reader.text(key, out);
  check_path(reader, key, out);
}

// Reads the path of a Unix socket. A path without a directory is a mistake: it would depend on
// where the daemon runs, or is meant as the name of an interface.
void read_socket(Reader& reader, std::string_view key, std::string& out) {
  reader.text(key, out, unix_path_max);
  check_path(reader, key, out);
  if (!out.empty() && out.find('/') == std::string::npos) {
    reader.error(key, "`" + out + "` names no directory", "write ./ or a whole path before it");
  }
}

// There is one file for each queue.
void read_paths(Reader& reader, std::string_view key, std::vector<std::string>& out) {
  for (auto& [path, where] : reader.names(key)) {
    check_path(reader, key, path);
    out.push_back(std::move(path));
  }
  if (out.size() > queues_max) {
    reader.error(
        key, "`" + std::string(key) + "` lists more than " + std::to_string(queues_max) + " files");
  }
}

DeviceConfig read_memif(Reader& reader) {
  MemifDevice device;
  read_socket(reader, "memif", device.socket);
  reader.integer("memif_id", device.id, {0u, 0xffffffffu});
  reader.choice("memif_role", device.server, socket_roles);
  read_queues(reader, device.queues);
  return device;
}

DeviceConfig read_vhost(Reader& reader) {
  VhostDevice device;
  read_socket(reader, "vhost", device.socket);
  reader.choice("vhost_role", device.server, socket_roles);
  read_queues(reader, device.queues);
  return device;
}

DeviceConfig read_virtio_user(Reader& reader) {
  VirtioUserDevice device;
  read_socket(reader, "virtio_user", device.socket);
  read_queues(reader, device.queues, virtio_user_queues_max);
  return device;
}

Parsed<std::string> parse_pci(std::string_view text) {
  constexpr std::string_view shape = "0000:00:00.0";
  bool fits = text.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const char c = text[i];
    const bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    fits = shape[i] == '0' ? hex : c == shape[i];
  }
  if (!fits) {
    return tl::unexpected(Complaint{"`" + std::string(text).substr(0, 64) + "` is no PCI address",
                                    "write it like \"0000:01:00.0\", see `lspci -D`"});
  }
  std::string address(text);  // DPDK knows devices by their names in lower case
  std::transform(address.begin(), address.end(), address.begin(), [](char c) {
    return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return address;
}

DeviceConfig read_pci(Reader& reader) {
  PciDevice device;
  reader.parsed("pci", device.address, parse_pci);
  read_queues(reader, device.queues);
  return device;
}

DeviceConfig read_ring(Reader& reader) {
  RingDevice device;
  reader.name("ring", device.name);
  return device;
}

DeviceConfig read_pcap(Reader& reader) {
  PcapDevice device;
  reader.table("pcap", [&](Reader& child) {
    read_paths(child, "rx", device.rx);
    read_path(child, "tx", device.tx);
    child.boolean("infinite", device.infinite);
    if (device.infinite && device.rx.empty()) {
      child.error("infinite", "`infinite` replays `rx`, which is missing");
    }
  });
  if (device.rx.empty() && device.tx.empty()) {
    reader.error("pcap", "`pcap` names no file", "pcap = { rx = \"in.pcap\", tx = \"out.pcap\" }");
  }
  return device;
}

DeviceConfig read_raw(Reader& reader) {
  RawDevice device;
  reader.text("device", device.arguments, 1024);
  read_queues(reader, device.queues);
  return device;
}

struct DeviceKind {
  std::string_view key;
  DeviceConfig (*read)(Reader&);
};
constexpr DeviceKind device_kinds[] = {
    {"interface", read_interface_device},
    {"tap", read_tap},
    {"memif", read_memif},
    {"vhost", read_vhost},
    {"virtio_user", read_virtio_user},
    {"pci", read_pci},
    {"ring", read_ring},
    {"pcap", read_pcap},
    {"device", read_raw},
};

// These keys belong to one kind of device.
constexpr std::pair<std::string_view, std::string_view> companions[] = {{"driver", "interface"},
                                                                        {"memif_id", "memif"},
                                                                        {"memif_role", "memif"},
                                                                        {"vhost_role", "vhost"}};

// These kinds of devices can be asked for several queues.
constexpr std::string_view queued_kinds[] = {"interface",   "memif", "vhost",
                                             "virtio_user", "pci",   "device"};

void check_queues(Reader& reader) {
  const auto asked = [&](std::string_view kind) { return reader.has(kind); };
  if (reader.has("queues") &&
      std::none_of(std::begin(queued_kinds), std::end(queued_kinds), asked)) {
    reader.error("queues",
                 "`queues` without `interface`, `memif`, `vhost`, `virtio_user`, `pci` or `device`",
                 "a `pcap` has a queue for each file in `rx`; others have one");
  }
}

void check_flow_control(Reader& reader, const forwarding::FlowControlConfig& flow) {
  if (flow.xoff_bytes > 0 && flow.xon_bytes >= flow.xoff_bytes) {
    reader.error("pause_xon", "`pause_xon` is not below `pause_xoff`");
  }
  for (const auto* key : {"pause_xoff", "pause_xon", "pause_reaction"}) {
    if (reader.has(key) && flow.mode == forwarding::FlowControl::off) {
      reader.error(key, "`" + std::string(key) + "` without `flow_control`");
    }
  }
  if (reader.has("pfc_priorities") && flow.mode != forwarding::FlowControl::pfc) {
    reader.error("pfc_priorities", "`pfc_priorities` without priority flow control",
                 "write flow_control = \"pfc\"");
  }
}

// Port security is for bridged ports that learn.
void check_learning(Reader& reader, const forwarding::LearningConfig& learning) {
  for (const std::string key : {"learn", "addresses_max"}) {
    refuse_on_routed(reader, key);
  }
  if (!learning.on && learning.addresses_max) {
    reader.error("addresses_max", "`addresses_max` bounds what is learned, and `learn` is \"off\"",
                 "take one of the two away");
  }
}

}  // namespace

void refuse_on_routed(Reader& reader, const std::string& key) {
  for (const std::string address : {"address", "address6"}) {
    if (reader.has(key) && reader.has(address)) {
      reader.error(key, "`" + key + "` is for bridged ports, and this one is routed",
                   "take `" + key + "` or `" + address + "` away");
    }
  }
}

constinit const Options<DeviceConfig> device_options = device_table;

std::optional<DeviceConfig> read_device(Reader& reader) {
  for (const auto& option : device_options) {
    reader.know(option.key);
  }
  std::optional<DeviceConfig> device;
  std::string_view first;
  for (const DeviceKind& kind : device_kinds) {
    if (!reader.has(kind.key)) {
      continue;
    }
    if (device) {
      reader.error(kind.key, "`" + std::string(kind.key) + "` beside `" + std::string(first) + "`",
                   "a port is attached to one thing");
      continue;
    }
    first = kind.key;
    device = kind.read(reader);
  }
  for (const auto& [key, owner] : companions) {
    if (reader.has(key) && !reader.has(owner)) {
      reader.error(key, "`" + std::string(key) + "` without `" + std::string(owner) + "`");
    }
  }
  check_queues(reader);
  return device;
}

void read_port(Reader& reader, SwitchDraft& out) {
  auto& port = out.config.ports.emplace_back();
  out.ports.push_back(&reader.source());
  read_options(reader, port_options, port);
  out.devices.push_back(read_device(reader));
  const auto& device = out.devices.back();
  port.from_kernel = device && (std::holds_alternative<InterfaceDevice>(*device) ||
                                std::holds_alternative<TapDevice>(*device));
  read_options(reader, learning_options, port.learning);
  check_learning(reader, port.learning);
  read_options(reader, vlan_options, port.vlan);
  check_port_vlans(reader, port.vlan);
  read_options(reader, queue_options, port.queue);
  if (const auto frame = frame_bytes_max(port); port.queue.capacity_bytes < frame) {
    reader.error("queue", "`queue` cannot hold one frame of the port's MTU",
                 "at least " + std::to_string(frame) + "B");
  }
  read_options(reader, flow_options, port.flow);
  check_flow_control(reader, port.flow);
  read_impairments(reader, port);
}

}  // namespace tributary::control
