// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "reduce/element_types.h"

namespace tributary::bench {

using reduce::bfloat16;
using reduce::float8_e4m3;
using reduce::float8_e5m2;
using reduce::half;
using reduce::indexed;
using reduce::int4_pair;
using reduce::is_exact_type;
using reduce::is_float8;
using reduce::is_indexed;

}  // namespace tributary::bench
