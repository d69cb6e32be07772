// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// A DPDK device is made from these.
struct DeviceArguments {
  std::string bus;   // "vdev" or "pci"
  std::string name;  // unique in the process
  std::string arguments;
};

// A port asks this of its device.
struct DeviceNeeds {
  static constexpr std::uint32_t frames_usual = 512;

  std::uint16_t mtu = 1500;
  std::uint16_t cores = 1;  // packet cores: so many queues, where these are automatic
  // So many frames may come before a core looks; some devices can be told.
  std::uint32_t frames = frames_usual;
  bool owners = false;  // packets belong to cores, because a protocol is on
};

// Returns how many frames may come by a port of a switch before a core looks: a window of each of
// its rings, all at once. By a port with flow control, it is what its neighbour sends at line rate
// while the core is kept from the CPU for half a second and cannot ask for silence.
std::uint32_t frames_at_once(const switching::SwitchConfig& config,
                             const forwarding::PortConfig& port);

// Says how the device of global port `number` is made; no value for an internal link, which has
// none. The error says what is wrong with the combination.
tl::expected<std::optional<DeviceArguments>, std::string> device_arguments(
    const control::DeviceConfig& device, unsigned number, const DeviceNeeds& needs);

// Operators see this text: "af_packet veth0", "link spine1:leaf1".
std::string describe(const control::DeviceConfig& device);

}  // namespace tributary::dataplane
