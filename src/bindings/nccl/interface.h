// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tributary::nccl {

// The ranks of this machine are reached by this interface.
struct Interface {
  std::string name;
  std::uint32_t address = 0;  // host order
  std::string pci_path;       // empty: the interface has no device
  int speed_mbps = 0;
};

// Returns the interface with TRIBUTARY_LOCAL_ADDRESS, that named TRIBUTARY_INTERFACE, or the first
// one that is up and not loopback.
std::optional<Interface> find_interface();

}  // namespace tributary::nccl
