// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::control {

struct ConfigError {
  std::string file;
  std::uint32_t line = 0;    // from 1; 0: it concerns the file as a whole
  std::uint32_t column = 0;  // from 1, in characters
  std::string message;
  std::string hint;  // what to do; may be empty
};
using ConfigErrors = std::vector<ConfigError>;  // in the order of the file, at most a hundred

// Returns "FILE:LINE:COLUMN: message (hint)", as compilers do, so that editors jump to it.
std::string to_string(const ConfigError& error);
std::string to_string(const ConfigErrors& errors);  // one line each

// This is either a configuration without contradictions, or everything that is wrong with it.
using Loaded = tl::expected<DaemonConfig, ConfigErrors>;
Loaded load_config(const std::string& path);
Loaded parse_config(std::string_view text, const std::string& name);  // `name` stands for the file

}  // namespace tributary::control
