// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/traffic_class.h"

#include <algorithm>
#include <cstddef>

namespace tributary::forwarding {
namespace {

// Returns what each class without a configured part gets of the queue.
std::uint32_t even_part(std::span<const TrafficClass> classes, std::uint32_t capacity_bytes) {
  std::uint64_t said = 0;
  std::uint32_t silent = 0;
  for (const auto& one : classes) {
    said += one.capacity_bytes;
    silent += one.capacity_bytes == 0 ? 1 : 0;
  }
  const auto left = capacity_bytes - std::min<std::uint64_t>(said, capacity_bytes);
  return silent == 0 ? 0 : static_cast<std::uint32_t>(left / silent);
}

}  // namespace

std::array<std::uint8_t, markings> class_by_marking(std::span<const TrafficClass> classes) {
  std::array<std::uint8_t, markings> places{};
  for (std::size_t place = 0; place < classes.size(); ++place) {
    if (classes[place].takes_the_rest()) {
      places.fill(static_cast<std::uint8_t>(place));
    }
  }
  for (std::size_t place = 0; place < classes.size(); ++place) {
    for (const auto codepoint : classes[place].codepoints) {
      places[codepoint.value] = static_cast<std::uint8_t>(place);
    }
    for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
      if (classes[place].pcp && classes[place].pcp->has(priority)) {
        places[marking_of_priority(priority)] = static_cast<std::uint8_t>(place);
      }
    }
  }
  return places;
}

std::uint32_t class_capacity(const TrafficClass& one, std::span<const TrafficClass> classes,
                             std::uint32_t capacity_bytes) {
  return one.capacity_bytes != 0 ? one.capacity_bytes : even_part(classes, capacity_bytes);
}

std::uint64_t lossless_capacity(std::span<const TrafficClass> classes,
                                std::uint32_t capacity_bytes) {
  std::uint64_t bytes = 0;
  for (const auto& one : classes) {
    bytes += one.pfc_priority ? class_capacity(one, classes, capacity_bytes) : 0;
  }
  return bytes;
}

}  // namespace tributary::forwarding
