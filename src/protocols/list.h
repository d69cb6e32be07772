// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

// Every protocol that Tributary speaks has a folder beside this file and a row here. Frames are
// offered to them in this order. A test build adds a protocol of its own by defining
// TRIBUTARY_TEST_PROTOCOLS.
#ifndef TRIBUTARY_TEST_PROTOCOLS
#define TRIBUTARY_TEST_PROTOCOLS(X)
#endif
#define TRIBUTARY_PROTOCOLS(X) X(canary) X(panama) X(netreduce) X(flare) TRIBUTARY_TEST_PROTOCOLS(X)

namespace tributary::protocols {

// Tables that have something of every protocol are indexed by these.
enum class Row : std::uint8_t {
#define TRIBUTARY_ROW(protocol) protocol,
  TRIBUTARY_PROTOCOLS(TRIBUTARY_ROW)
#undef TRIBUTARY_ROW
};

}  // namespace tributary::protocols
