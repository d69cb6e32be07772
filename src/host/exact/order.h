// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "wire/element.h"

namespace tributary::host::exact {

// Minima and maxima of floats leave open which of two zeros comes out, and which NaN. Here they are
// made of those of integers, which leave nothing open.

// Returns the integer type that is as wide as a float type.
wire::ElementType keys_of(wire::ElementType type);
// Makes integers whose order is that of the floats: -0 is below +0, and a NaN is beyond all
// numbers, where `op`, min or max, looks for its result. Elements and keys may be the same memory.
void to_keys(std::byte* keys, const std::byte* elements, std::size_t count, wire::ElementType type,
             wire::Operator op);
// Makes floats of integers again. A NaN has a plus as its sign and an empty payload then.
void from_keys(std::byte* elements, const std::byte* keys, std::size_t count,
               wire::ElementType type, wire::Operator op);

// Copies pairs so that those that minloc and maxloc take for equal have the same bits: -0 becomes
// +0, every NaN the same one, and what means nothing becomes 0.
void make_alike(std::byte* alike, const std::byte* pairs, std::size_t count,
                wire::ElementType type);

}  // namespace tributary::host::exact
