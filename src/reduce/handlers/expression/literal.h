// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reduce/handlers/expression/program.h"

namespace tributary::reduce {

// Returns the bits of a number in a lane, or no value if the text is no number, or does not fit.
// Integers may have all bits of the lane: 0xffffffff is -1 in 32 of them.
std::optional<std::uint64_t> bits_of_literal(std::string_view text, bool negative, Lanes lanes);

// Returns the bits of a small whole number in a lane.
std::uint64_t bits_of(int value, Lanes lanes);

}  // namespace tributary::reduce
