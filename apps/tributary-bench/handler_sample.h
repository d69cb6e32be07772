// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "sample.h"

namespace tributary::bench {

// Makes a sample of elements whose meaning only a handler knows. Inputs are such that no order of
// reduction makes a difference to handlers as one writes them: small integers; lists of pairs that
// fall within a packet, in which no two values are alike; and for opaque types f32 that are 1, -1
// or 0, of each two one of them not 0. The right result is what the handler here makes of the
// ranks' inputs, one rank after the other, a packet at a time: so what is verified is what carries
// them, and that all have the same handler.
std::unique_ptr<Sample> make_handler_sample(const Problem& problem);

}  // namespace tributary::bench
