// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "support/switch_bench.h"

// A router's ports a and b, and a host behind each.
namespace tributary::test {

inline const Ip own_a(10, 1, 1, 1);
inline const Ip own_b(10, 1, 2, 1);
inline const Ip host_a(10, 1, 1, 9);
inline const Ip host_b(10, 1, 2, 9);
inline const auto mac_a = mac(0, 0xee);
inline const auto mac_b = mac(1, 0xee);
inline const Endpoints a_to_b{mac(1), mac_a, host_a, host_b};

}  // namespace tributary::test
