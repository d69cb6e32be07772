// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "wire/element.h"

namespace tributary::host::exact {

// Minima and maxima of floats, which leave open which of two zeros comes out, and which NaN, as
// those of integers, which leave nothing open.

// The integers that are as wide as a float type.
wire::ElementType keys_of(wire::ElementType type);
// Integers whose order is that of the floats: -0 is below +0, and a NaN is beyond all numbers,
// where `op`, min or max, looks for its result. Elements and keys may be the same memory.
void to_keys(std::byte* keys, const std::byte* elements, std::size_t count, wire::ElementType type,
             wire::Operator op);
// And back. Of a NaN: that whose sign is plus and whose payload is empty.
void from_keys(std::byte* elements, const std::byte* keys, std::size_t count,
               wire::ElementType type, wire::Operator op);

// Copies pairs so that those that minloc and maxloc take for equal have the same bits: -0 becomes
// +0, every NaN the same one, and what means nothing becomes 0.
void make_alike(std::byte* alike, const std::byte* pairs, std::size_t count,
                wire::ElementType type);

}  // namespace tributary::host::exact
