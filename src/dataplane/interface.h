// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace tributary::dataplane {

// Network interfaces of the kernel, in the network namespace of the process.

// Checks that the interface exists and that we may use it. The error says what to do.
tl::expected<void, std::string> check_interface(const std::string& name);

// IP bytes, without the Ethernet header.
tl::expected<void, std::string> set_interface_mtu(const std::string& name, std::uint16_t mtu);

// Administratively up and with carrier.
bool interface_running(const std::string& name);

}  // namespace tributary::dataplane
