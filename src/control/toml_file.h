// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>
#include <toml++/toml.h>

#include "control/loader.h"

namespace tributary::control {

// Reads a file that somebody wrote, of bounded size.
tl::expected<std::string, ConfigErrors> read_file(const std::string& path);
// Parses TOML that does not nest without bound. `name` is what errors call the file.
tl::expected<toml::table, ConfigErrors> parse_document(std::string_view text,
                                                       const std::string& name);

}  // namespace tributary::control
