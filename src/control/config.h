// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "switch/config.h"
#include "wire/element.h"

namespace tributary::control {

// A device has so many queues, each polled by one packet core; automatic is as many as there are
// cores, or as the device can have if that is less.
inline constexpr std::uint16_t queues_automatic = 0;
inline constexpr std::uint16_t queues_max = 64;
inline constexpr std::uint16_t virtio_user_queues_max = 8;  // of the driver

// A port is attached to one of these, with one alternative per kind; EAL arguments never show.
struct InterfaceDevice {  // an existing network interface of the host
  enum class Driver : std::uint8_t { af_packet, af_xdp };
  std::string interface;
  Driver driver = Driver::af_packet;
  std::uint16_t queues = 1;  // the kernel spreads flows over them, also where one is enough
};
struct TapDevice {  // a TAP interface that the daemon makes
  std::string interface;
};
struct MemifDevice {
  std::string socket;
  std::uint32_t id = 0;
  bool server = false;
  std::uint16_t queues = 1;  // the same at both ends
};
struct VhostDevice {  // the switch's side of a vhost-user socket; a virtual machine has the other
  std::string socket;
  bool server = true;
  std::uint16_t queues = 1;  // the same at both ends
};
struct VirtioUserDevice {  // the virtual machine's side of one; somebody serves it
  std::string socket;
  std::uint16_t queues = 1;
};
struct PciDevice {
  std::string address;
  std::uint16_t queues = queues_automatic;
};
struct RingDevice {  // net_ring of this name: a loop inside the process
  std::string name;
};
struct PcapDevice {
  std::vector<std::string> rx;  // files, one per queue; or none
  std::string tx;               // file or empty
  bool infinite = false;        // replay rx for ever
};
struct RawDevice {  // DPDK device arguments as they are
  std::string arguments;
  std::uint16_t queues = 1;
};
struct InternalLink {  // joined to another logical switch of this daemon
  std::string peer_switch;
  std::string peer_port;
};
using DeviceConfig =
    std::variant<InterfaceDevice, TapDevice, MemifDevice, VhostDevice, VirtioUserDevice, PciDevice,
                 RingDevice, PcapDevice, RawDevice, InternalLink>;

// DPDK as packaged by Debian can drive so many in one process (RTE_MAX_ETHPORTS); internal links do
// not count.
inline constexpr std::size_t devices_max = 32;
inline constexpr std::size_t ports_per_switch_max = 256;
// Jumbo frames with their Ethernet header still fit one buffer of the data plane.
inline constexpr std::uint16_t mtu_min = 576;
inline constexpr std::uint16_t mtu_max = 9000;

// Operators see this as a port's device: "af_packet veth0", "link spine1:leaf1".
std::string to_string(const DeviceConfig& device);

// Returns what two ports cannot both have, as in "interface veth0"; empty where sharing is
// harmless.
std::string exclusive_use(const DeviceConfig& device);

inline std::uint16_t queues_of(const DeviceConfig& device) {
  const auto queues = [](const auto& d) -> std::uint16_t {
    if constexpr (requires { d.queues; }) {
      return d.queues;
    } else if constexpr (requires { d.infinite; }) {
      return static_cast<std::uint16_t>(d.rx.empty() ? 1 : d.rx.size());
    } else {
      return 1;
    }
  };
  return std::visit(queues, device);
}

inline constexpr std::array<std::string_view, 7> log_levels{"trace", "debug",    "info", "warning",
                                                            "error", "critical", "off"};

enum class IdlePolicy : std::uint8_t { adaptive, poll };
enum class Hugepages : std::uint8_t { automatic, never, always };

struct SwitchSection {
  switching::SwitchConfig config;
  std::vector<DeviceConfig> devices;  // one per port, in the order of config.ports
};

// A handler is an operator that people bring (docs/reference/handlers.md): an expression over
// elements of a type, or a shared object, which says its type itself.
struct HandlerConfig {
  unsigned number = 0;                    // below wire::handlers_max
  std::optional<wire::ElementType> type;  // of an expression
  std::string expression;                 // empty: it is a file
  std::string file;                       // in DaemonConfig::handler_directory
};

struct DaemonConfig {
  // These are the CPU numbers of the packet cores; empty: "auto", see cores.h.
  std::vector<unsigned> cores = {0};
  IdlePolicy idle = IdlePolicy::adaptive;
  Hugepages hugepages = Hugepages::automatic;
  std::uint32_t packets = 16384;  // buffers shared by all ports
  std::string control_socket = "/run/tributary/control.sock";
  // What controllers give at run time is kept in this file; no value: beside the control socket. If
  // it is empty, nothing is kept.
  std::optional<std::string> state;
  std::string control_group;  // it may use the socket; empty: the daemon's own
  std::string log_level = "info";
  std::string handler_directory;        // its shared objects may be loaded; empty: none
  std::vector<HandlerConfig> handlers;  // each number once
  std::vector<SwitchSection> switches;
};

}  // namespace tributary::control
