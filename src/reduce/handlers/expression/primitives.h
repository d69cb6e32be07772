// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "reduce/handlers/expression/program.h"
#include "wire/element.h"

namespace tributary::reduce {

// A register is memory of this size and alignment: all of a program's fit into the first-level
// cache of a core.
inline constexpr std::size_t register_bytes = 1024;
inline constexpr std::size_t register_alignment = 64;

// A Primitive computes the first n lanes of a register from those of others, among which it may be.
// The rest of the last vector is computed as well, from whatever is there.
using Primitive = void (*)(void* to, const void* a, const void* b, const void* c, std::size_t n);

struct Primitives {
  std::array<Primitive, operation_count> of{};  // null where the lanes have no such operation
  void (*fill)(void* to, std::uint64_t bits, std::size_t n) = nullptr;
};

// Returns the primitives that are best on this CPU. The same bits come out on every one, but for
// those of a NaN.
const Primitives& primitives(Lanes lanes);

// A Conversion takes n elements, which need not be aligned, to the lanes of a register and back.
// Integers are cut to the element's size, floats rounded.
struct Conversion {
  void (*load)(void* lanes, const void* elements, std::size_t n) = nullptr;
  void (*store)(void* elements, const void* lanes, std::size_t n) = nullptr;
};

// Precondition: the type has lanes (operations.h).
Conversion conversion(wire::ElementType type);

}  // namespace tributary::reduce
