// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/parameter.h"

namespace tributary::host::tuning {

// These are the library's own, as those of the journal are. If one rank does not measure, no rank
// does; whether hosts double is what ranks compare when they meet.
inline constexpr Parameter parameters[] = {
    {.name = "tune",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "on",
     .help =
         "of communicators whose algorithm is `auto`: ranks measure at the creation up to which "
         "sizes hosts are faster than switches; `off`: switches carry all that they can"},
    {.name = "tune_time",
     .kind = Parameter::Kind::duration,
     .otherwise = "50ms",
     .help = "for how long ranks measure; the least of all ranks counts"},
    {.name = "doubling",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "on",
     .help =
         "`off`: hosts add short vectors round their ring, too, as to compare; nothing is measured "
         "then. The same on all ranks"},
};

}  // namespace tributary::host::tuning
