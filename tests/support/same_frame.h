// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/frame.h"

namespace tributary::test {

// Returns whether both tell the same about one packet.
inline bool is_same(const engine::Frame& a, const engine::Frame& b) {
  return a.ethernet == b.ethernet && a.ipv4 == b.ipv4 && a.udp == b.udp &&
         a.payload.data() == b.payload.data() && a.payload.size() == b.payload.size();
}

}  // namespace tributary::test
