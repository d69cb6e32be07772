// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "forwarding/codepoint.h"
#include "forwarding/config.h"

namespace tributary::forwarding {

// Returns each marking's class, by its place in `classes`, which are not empty, and of which one
// takes the rest.
std::array<std::uint8_t, markings> class_by_marking(std::span<const TrafficClass> classes);

// Returns the part of a port's queue that one of its classes has, whether it is configured or an
// even share.
std::uint32_t class_capacity(const TrafficClass& one, std::span<const TrafficClass> classes,
                             std::uint32_t capacity_bytes);

// Returns the part of a port's queue that its lossless classes have together.
std::uint64_t lossless_capacity(std::span<const TrafficClass> classes,
                                std::uint32_t capacity_bytes);

}  // namespace tributary::forwarding
