// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "wire/element.h"

namespace tributary::reduce {

// A Kernel reduces payloads of one element type with one operator, by the SIMD code that is best on
// this CPU. `n` counts elements and may be 0; nothing need be aligned; nothing outside the n
// elements is read or written; the two buffers do not overlap (those of load and store may be the
// same if the kernel is in_place).
//
// The accumulator of a float of 16 or 8 bits is an f32; that of everything else, and of all
// handlers, is the element itself. Integers wrap in sum and prod; logical operators make 1 of what
// is true, and 0 of the rest. min and max of floats yield NaN as soon as one operand is NaN; of two
// zeros with different signs either may come out. minloc and maxloc take one of two pairs as it is:
// that with a NaN, then that with the least or greatest value, then that with the lower index; of
// pairs that are equal, either.
struct Kernel {
  void (*load)(void* accumulator, const void* elements, std::size_t n);        // first contribution
  void (*accumulate)(void* accumulator, const void* elements, std::size_t n);  // acc = acc op elem
  void (*store)(void* elements, const void* accumulator, std::size_t n);  // rounds to the element
  std::size_t accumulator_bytes;                                          // per element
  bool in_place;  // the accumulator has the element's own format
};

// Returns the kernel of a valid pair (wire::is_valid). The reference holds for ever; that of a
// handler leaves the accumulator as it is while there is no handler under the number.
const Kernel& kernel(wire::ElementType type, wire::Operator op);

// Returns that kernel, or null where the operator is a handler that is not loaded, is closed or too
// slow, or is for another type.
const Kernel* find_kernel(wire::ElementType type, wire::Operator op);

}  // namespace tributary::reduce
