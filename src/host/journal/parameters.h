// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/parameter.h"

namespace tributary::host {

// Those that are the library's own: whatever the protocol.
inline constexpr Parameter journal_parameters[] = {
    {.name = "report",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "off",
     .help = "rank 0 writes a table of what collectives took when a communicator ends"},
    {.name = "timeline",
     .kind = Parameter::Kind::text,
     .help = "a file, to which every rank adds its collectives as a Chrome trace"},
};

}  // namespace tributary::host
