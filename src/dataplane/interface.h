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

// 0 if there is none.
unsigned interface_index(const std::string& name);

// Administratively up, with carrier, and still the interface of that index: one that was deleted
// and made again under the same name is another one.
bool interface_running(const std::string& name, unsigned index);

}  // namespace tributary::dataplane
