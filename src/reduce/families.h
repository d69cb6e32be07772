// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "reduce/kernel.h"

namespace tributary::reduce {

// Each family of kernels has one translation unit, and its code is chosen at run time for this CPU
// (but for kernels of pairs). `op` and `type` are valid for the family.
const Kernel& integer_kernel(wire::ElementType type, wire::Operator op);
const Kernel& float_kernel(wire::ElementType type, wire::Operator op);
const Kernel& float16_kernel(wire::ElementType type, wire::Operator op);
const Kernel& float8_kernel(wire::ElementType type, wire::Operator op);
const Kernel& indexed_kernel(wire::ElementType type, wire::Operator op);

// Returns the kernel of a handler, whether it is loaded or not: there is one for each number and
// size of elements.
const Kernel& handler_kernel(wire::ElementType type, wire::Operator op);

}  // namespace tributary::reduce
