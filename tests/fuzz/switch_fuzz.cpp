// SPDX-License-Identifier: BSD-3-Clause
// A switch of two cores that bridges, routes and aggregates, fed with sequences of frames, time and
// commands.
#include "support/switch_storm.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tributary::test::SwitchStorm(data, size).run();
  return 0;
}
