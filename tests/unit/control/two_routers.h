// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tributary::control::test {

// Two routers and a link; each test damages it.
inline constexpr std::string_view two_routers = R"(version = 1
[[switch]]
name = "leaf1"
id = 1
address = "10.1.255.1"
[switch.canary]
descriptors = 4096
timeout = "1ms"
[[switch.port]]
name = "h1"
interface = "veth-h1"
address = "10.1.1.1/24"
mac = "02:00:00:01:00:01"
[[switch.port]]
name = "up1"
address = "10.100.1.1/30"
rate = "200Mbit"
queue = "1MiB"
[[switch.port]]
name = "b1"
tap = "tap0"
[[switch.route]]
prefix = "0.0.0.0/0"
via = ["10.100.1.2"]
[[switch.fdb]]
mac = "02:00:00:00:00:01"
port = "b1"
[[switch.arp]]
address = "10.1.1.2"
mac = "02:00:00:00:00:02"
[[switch]]
name = "spine1"
id = 2
[[switch.port]]
name = "leaf1"
address = "10.100.1.2/30"
[[link]]
a = "leaf1:up1"
b = "spine1:leaf1"
)";

}  // namespace tributary::control::test
