// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "host/parameter.h"

namespace tributary::host {

inline constexpr std::string_view log_words[] = {"error", "warn", "info"};

// These parameters are the library's own, whatever the protocol.
inline constexpr Parameter journal_parameters[] = {
    {.name = "report",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "off",
     .help = "rank 0 writes a table of what collectives took when a communicator ends"},
    {.name = "timeline",
     .kind = Parameter::Kind::text,
     .help = "a file, to which every rank adds its collectives as a Chrome trace"},
    {.name = "log",
     .kind = Parameter::Kind::word,
     .help =
         "which lines are said: none but reports (error), none but what is wrong (warn), or one "
         "more when a communicator ends (info)",
     .words = log_words},
};

}  // namespace tributary::host
