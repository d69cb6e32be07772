// SPDX-License-Identifier: BSD-3-Clause
#include "port_spec.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "control/backend.h"
#include "control/text.h"

namespace tributary::pktgen {
namespace {

using Argument = std::pair<std::string, std::string>;
std::vector<Argument> split(const std::string& text) {
  std::vector<Argument> arguments;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto part = text.substr(at, comma - at);
    const auto equals = std::min(part.find('='), part.size());
    arguments.emplace_back(part.substr(0, equals),
                           equals < part.size() ? part.substr(equals + 1) : "");
    at = comma + 1;
  }
  return arguments;
}

tl::unexpected<std::string> refuse(const std::string& what) {
  return tl::unexpected(what);
}

tl::unexpected<std::string> unknown(const Argument& argument, const char* known) {
  return refuse("\"" + argument.first + "\" is no key of such a port; " + known);
}

// Without what every kind of port has.
using Rest = std::vector<Argument>;

tl::expected<control::DeviceConfig, std::string> make_interface(const std::string& name,
                                                                const Rest& rest) {
  control::InterfaceDevice device{name};
  for (const auto& argument : rest) {
    if (argument.first != "driver") {
      return unknown(argument, "it has driver=");
    }
    if (argument.second != "af_packet" && argument.second != "af_xdp") {
      return refuse("driver=" + argument.second + " is none; say af_packet or af_xdp");
    }
    device.driver = argument.second == "af_xdp" ? control::InterfaceDevice::Driver::af_xdp
                                                : control::InterfaceDevice::Driver::af_packet;
  }
  return device;
}

tl::expected<bool, std::string> is_server(const std::string& role) {
  if (role != "server" && role != "client") {
    return refuse("role=" + role + " is none; say server or client");
  }
  return role == "server";
}

tl::expected<control::DeviceConfig, std::string> make_memif(const std::string& socket,
                                                            const Rest& rest) {
  control::MemifDevice device{socket};
  for (const auto& argument : rest) {
    const auto& [key, value] = argument;
    if (key == "role") {
      const auto server = is_server(value);
      if (!server) {
        return tl::unexpected(server.error());
      }
      device.server = *server;
    } else if (key == "id") {
      const auto* end = value.data() + value.size();
      const auto [stop, error] = std::from_chars(value.data(), end, device.id);
      if (error != std::errc{} || stop != end) {
        return refuse("id=" + value + " is no number");
      }
    } else {
      return unknown(argument, "it has role= and id=");
    }
  }
  return device;
}

tl::expected<control::DeviceConfig, std::string> make_vhost(const std::string& socket,
                                                            const Rest& rest) {
  control::VhostDevice device{socket};
  for (const auto& argument : rest) {
    if (argument.first != "role") {
      return unknown(argument, "it has role=");
    }
    const auto server = is_server(argument.second);
    if (!server) {
      return tl::unexpected(server.error());
    }
    device.server = *server;
  }
  return device;
}

tl::expected<control::DeviceConfig, std::string> make_pcap(const Argument& first,
                                                           const Rest& rest) {
  control::PcapDevice device;
  if (first.first == "pcap-tx") {
    device.tx = first.second;
  } else {
    device.rx = {first.second};
  }
  for (const auto& argument : rest) {
    if (argument.first == "pcap-tx") {
      device.tx = argument.second;
    } else if (argument.first == "pcap-rx") {
      device.rx = {argument.second};
    } else if (argument.first == "infinite") {
      device.infinite = true;
    } else {
      return unknown(argument, "it has pcap-tx=, pcap-rx= and infinite");
    }
  }
  return device;
}

tl::expected<control::DeviceConfig, std::string> make_device(const Argument& kind,
                                                             const Rest& rest) {
  const auto plain =
      [&](control::DeviceConfig device) -> tl::expected<control::DeviceConfig, std::string> {
    if (!rest.empty()) {
      return unknown(rest.front(), "it has address=, mac=, gateway= and gateway-mac=");
    }
    return device;
  };
  if (kind.first == "interface") {
    return make_interface(kind.second, rest);
  }
  if (kind.first == "memif") {
    return make_memif(kind.second, rest);
  }
  if (kind.first == "pcap-tx" || kind.first == "pcap-rx") {
    return make_pcap(kind, rest);
  }
  if (kind.first == "vhost") {
    return make_vhost(kind.second, rest);
  }
  if (kind.first == "virtio_user") {
    return plain(control::VirtioUserDevice{kind.second});
  }
  if (kind.first == "tap") {
    return plain(control::TapDevice{kind.second});
  }
  if (kind.first == "pci") {
    return plain(control::PciDevice{kind.second});
  }
  if (kind.first == "ring") {
    return plain(control::RingDevice{kind.second});
  }
  if (kind.first == "device") {  // whose own keys nobody here knows
    control::RawDevice device{kind.second};
    for (const auto& [key, value] : rest) {
      device.arguments += "," + key + (value.empty() ? "" : "=" + value);
    }
    return device;
  }
  return refuse(
      "\"" + kind.first +
      "\" is no kind of port; say interface=, tap=, memif=, vhost=, virtio_user=, pci=, ring=, "
      "pcap-tx=, pcap-rx= or device=");
}

template <typename T>
control::Outcome put(const control::Parsed<T>& parsed, T& out) {
  if (!parsed) {
    return refuse(parsed.error().message +
                  (parsed.error().hint.empty() ? "" : "; " + parsed.error().hint));
  }
  out = *parsed;
  return {};
}

// Takes the keys that every kind of port has out of `rest`.
control::Outcome take_stations(Rest& rest, traffic::StationRange& stations) {
  Rest others;
  for (auto& argument : rest) {
    const auto& [key, value] = argument;
    control::Outcome outcome;
    if (key == "address") {
      outcome = put(control::parse_ipv4(value), stations.address);
    } else if (key == "mac") {
      outcome = put(control::parse_mac(value), stations.mac);
    } else if (key == "gateway") {
      outcome = put(control::parse_ipv4(value), stations.gateway.emplace());
    } else if (key == "gateway-mac") {
      outcome = put(control::parse_mac(value), stations.gateway_mac.emplace());
    } else {
      others.push_back(std::move(argument));
    }
    if (!outcome) {
      return outcome;
    }
  }
  rest = std::move(others);
  return {};
}

}  // namespace

traffic::StationRange default_stations(std::size_t number) {
  traffic::StationRange stations;
  const auto octet = static_cast<std::uint8_t>(number);
  stations.mac = {{0x02, 0x74, octet, 0, 0, 1}};
  stations.address = wire::Ipv4Address((10u << 24) + ((64u + 4u * octet) << 16) + 1);
  return stations;
}

tl::expected<PortSpec, std::string> parse_port(const std::string& text, std::size_t number) {
  auto arguments = split(text);
  const Argument kind = arguments.front();
  arguments.erase(arguments.begin());
  if (kind.second.empty()) {
    return refuse("\"" + text + "\" names no device; say for example interface=veth0");
  }
  PortSpec spec;
  spec.stations = default_stations(number);
  if (auto taken = take_stations(arguments, spec.stations); !taken) {
    return refuse(taken.error());
  }
  auto device = make_device(kind, arguments);
  if (!device) {
    return refuse(device.error());
  }
  spec.device = std::move(*device);
  return spec;
}

const char* const port_help =
    "Ports, one --port each:\n"
    "  interface=NAME[,driver=af_packet|af_xdp]   an interface of this host\n"
    "  tap=NAME                                   a TAP interface, made here\n"
    "  memif=SOCKET[,role=server|client][,id=N]   another process on this host\n"
    "  vhost=SOCKET[,role=server|client]          a virtual machine, by vhost-user\n"
    "  virtio_user=SOCKET                         in place of one: the other side of vhost=\n"
    "  pci=0000:01:00.0                           a card that is bound to vfio-pci\n"
    "  ring=NAME                                  what is sent comes back\n"
    "  pcap-tx=FILE                               a file that is written\n"
    "  pcap-rx=FILE[,infinite][,pcap-tx=FILE]     a file that is replayed, once or for ever\n"
    "  device=net_null0,size=64                   any DPDK device by its own arguments\n"
    "and for each of them:\n"
    "  address=IP, mac=MAC                        of its first host; others count up\n"
    "  gateway=IP or gateway-mac=MAC              routed: where frames for others go\n"
    "                                             (without it: to their own MAC addresses)\n";

}  // namespace tributary::pktgen
