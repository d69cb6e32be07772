// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// A DPDK device and its arguments.
struct DeviceArguments {
  std::string bus;   // "vdev" or "pci"
  std::string name;  // unique in the process
  std::string arguments;
};

// How the device of global port `number` is made; no value for an internal link, which has none.
// The error says what is wrong with the combination. `cores` are the packet cores: what a device
// with automatic queues is asked for.
tl::expected<std::optional<DeviceArguments>, std::string> device_arguments(
    const control::DeviceConfig& device, unsigned number, std::uint16_t mtu,
    std::uint16_t cores = 1);

// What operators see: "af_packet veth0", "link spine1:leaf1".
std::string describe(const control::DeviceConfig& device);

}  // namespace tributary::dataplane
