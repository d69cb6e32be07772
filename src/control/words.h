// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tributary::control {

// Returns the word of `words` that `word` may be a misspelling of; empty if none is near.
std::string nearest(std::string_view word, const std::vector<std::string_view>& words);
// Returns "a, b, c", cut where it gets long.
std::string joined(const std::vector<std::string_view>& words);

}  // namespace tributary::control
