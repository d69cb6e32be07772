// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tributary::control {

// Returns where a TOML text nests arrays, inline tables or dotted keys deeper than any
// configuration does, in bytes from its start; no value if it does not. The parser, and the
// destructors of what it returns, recurse with the nesting, so this is asked first. It understands
// strings and comments, and nothing else.
std::optional<std::size_t> nested_too_deep(std::string_view text);

}  // namespace tributary::control
