// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "reduce/handlers/handler.h"
#include "wire/element.h"

namespace tributary::reduce {

inline constexpr std::size_t expression_bytes_max = 4096;

// Compiles a handler from the language of docs/reference/handlers.md, `acc = min(acc + in, 127)`.
// Whoever wrote it need not be trusted: it does arithmetic on the elements that it is given, in a
// time that its length bounds, and has no way to express anything else. An error says where it is,
// why, and what to write instead.
tl::expected<std::unique_ptr<Handler>, std::string> compile_expression(std::string_view text,
                                                                       wire::ElementType type);

}  // namespace tributary::reduce
