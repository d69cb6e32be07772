// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/c/tributary.h"
#include "host/error.h"
#include "host/gradient_sketch.h"

namespace tributary::host::c {

// Fails if there is no such kind or rounding. Whoever uses the options checks the bits.
Result<SketchOptions> sketch_options_of(const tributary_sketch_options& given);

}  // namespace tributary::host::c
