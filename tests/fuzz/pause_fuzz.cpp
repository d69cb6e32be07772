// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/pause.h"

// A frame. What is understood is understood in the same way when it is said again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary::wire;
  const auto pause = parse_pause(std::as_bytes(std::span(data, size)));
  if (pause) {
    [[maybe_unused]] const auto again = parse_pause(make_pause(MacAddress{}, *pause));
    assert(again && again->by_class == pause->by_class && again->classes == pause->classes &&
           again->quanta == pause->quanta);
  }
  return 0;
}
