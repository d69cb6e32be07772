// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace tributary::control {

// Whether a TOML text nests arrays, inline tables or dotted keys deeper than any configuration
// does. The parser, and the destructors of what it returns, recurse with the nesting; so this is
// asked first. It understands strings and comments, and nothing else.
bool nested_too_deep(std::string_view text);

}  // namespace tributary::control
