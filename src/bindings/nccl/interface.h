// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tributary::nccl {

// Of this machine, by which its ranks are reached.
struct Interface {
  std::string name;
  std::uint32_t address = 0;  // host order
  std::string pci_path;       // empty: it is no device
  int speed_mbps = 0;
};

// That with TRIBUTARY_LOCAL_ADDRESS, TRIBUTARY_INTERFACE, or the first one that is up and not
// loopback.
std::optional<Interface> find_interface();

}  // namespace tributary::nccl
