// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "reduce/handlers/expression/parser.h"
#include "reduce/handlers/expression/program.h"
#include "wire/element.h"

namespace tributary::reduce {

// Gives each value a register for as long as somebody needs it. Where there are too few, the error
// says at which place of the text that the formula came from. Precondition: the type has lanes.
tl::expected<Program, std::string> allocate(const Formula& formula, wire::ElementType type,
                                            std::string_view text);

}  // namespace tributary::reduce
