// SPDX-License-Identifier: BSD-3-Clause
#include "port_spec.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/backend.h"
#include "control/config_draft.h"
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

// Rest has the arguments of a port without those that every kind of port has.
using Rest = std::vector<Argument>;

// This key of a port has another name in the table of a port of a switch.
struct Renamed {
  std::string_view kind;
  std::string_view here;
  std::string_view there;
};
constexpr Renamed renamed[] = {
    {"memif", "role", "memif_role"}, {"memif", "id", "memif_id"}, {"vhost", "role", "vhost_role"}};

std::string configured_key(std::string_view kind, const std::string& key) {
  for (const auto& one : renamed) {
    if (one.kind == kind && one.here == key) {
      return std::string(one.there);
    }
  }
  return key;
}

void insert(toml::table& table, const std::string& key, const std::string& value) {
  std::int64_t number = 0;
  const auto* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (key == "memif_id" && error == std::errc{} && stop == end) {
    table.insert_or_assign(key, number);
  } else {
    table.insert_or_assign(key, value);
  }
}

// Returns the port as that of a switch has it in its configuration.
toml::table configured(const Argument& kind, const Rest& rest) {
  toml::table table;
  toml::table files;
  Rest all = rest;
  all.push_back(kind);
  for (const auto& [key, value] : all) {
    if (key == "pcap-rx" || key == "pcap-tx") {
      files.insert_or_assign(key.substr(5), value);
    } else if (key == "infinite") {
      files.insert_or_assign(key, true);
    } else {
      insert(table, configured_key(kind.first, key), value);
    }
  }
  if (!files.empty()) {
    table.insert_or_assign("pcap", std::move(files));
  }
  return table;
}

// The keys of a device of DPDK's are its own.
control::RawDevice raw_device(const Argument& kind, const Rest& rest) {
  control::RawDevice device{kind.second};
  for (const auto& [key, value] : rest) {
    device.arguments += "," + key + (value.empty() ? "" : "=" + value);
  }
  return device;
}

tl::expected<control::DeviceConfig, std::string> make_device(const Argument& kind,
                                                             const Rest& rest) {
  if (kind.first == "device") {
    return raw_device(kind, rest);
  }
  const auto table = configured(kind, rest);
  control::Diagnostics diagnostics("--port");
  control::Reader reader(table, "", diagnostics);
  const auto device = control::read_device(reader);
  if (!device) {
    return refuse(
        "\"" + kind.first +
        "\" is no kind of port; say interface=, tap=, memif=, vhost=, virtio_user=, pci=, ring=, "
        "pcap-tx=, pcap-rx= or device=");
  }
  reader.finish();
  if (const auto errors = diagnostics.take(); !errors.empty()) {
    const auto& [file, line, column, message, hint] = errors.front();
    return refuse(message + (hint.empty() ? "" : "; " + hint));
  }
  return *device;
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

control::Outcome check_gateway(const traffic::StationRange& stations) {
  if (!stations.gateway || stations.gateway->is_v4() != stations.prefix.has_value()) {
    return {};
  }
  return refuse("the gateway " + control::to_string(*stations.gateway) + " is of another version " +
                "of IP than the hosts; say address= of that version, too");
}

// Takes the keys that every kind of port has out of `rest`.
control::Outcome take_stations(Rest& rest, traffic::StationRange& stations) {
  Rest others;
  for (auto& argument : rest) {
    const auto& [key, value] = argument;
    control::Outcome outcome;
    if (key == "address") {
      outcome = set_address(value, stations);
    } else if (key == "mac") {
      outcome = put(control::parse_mac(value), stations.mac);
    } else if (key == "gateway") {
      outcome = put(control::parse_ip(value), stations.gateway.emplace());
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
  return check_gateway(stations);
}

// Whatever is said twice, only one of the two would hold.
control::Outcome check_keys(const Argument& kind, const Rest& rest) {
  std::set<std::string> keys = {kind.first};
  for (const auto& [key, value] : rest) {
    if (!keys.insert(key).second) {
      return refuse("`" + key + "` is there twice; say it once");
    }
    if (key == "infinite" && !value.empty()) {
      return refuse("`infinite` has no value: say it, or leave it out");
    }
  }
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

control::Outcome set_address(const std::string& text, traffic::StationRange& stations) {
  if (text.find(':') == std::string::npos) {
    return put(control::parse_ipv4(text), stations.address);
  }
  wire::IpAddress address;
  const auto outcome = put(control::parse_ipv6(text), address);
  stations.prefix = wire::EmbeddingPrefix::of(address);
  stations.address = wire::EmbeddingPrefix::embedded_in(address);
  return outcome;
}

tl::expected<PortSpec, std::string> parse_port(const std::string& text, std::size_t number) {
  auto arguments = split(text);
  const Argument kind = arguments.front();
  arguments.erase(arguments.begin());
  if (kind.second.empty()) {
    return refuse("\"" + text + "\" names no device; say for example interface=veth0");
  }
  if (kind.first != "device") {  // whose keys are DPDK's
    if (const auto sound = check_keys(kind, arguments); !sound) {
      return refuse(sound.error());
    }
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
    "  address=IP, mac=MAC                        of its first host, of IPv4 or IPv6; others "
    "count\n"
    "                                             up\n"
    "  gateway=IP or gateway-mac=MAC              routed: where frames for others go\n"
    "                                             (without it: to their own MAC addresses)\n";

}  // namespace tributary::pktgen
