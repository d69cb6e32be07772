// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "reduce/handlers/handler.h"

namespace tributary::reduce {

// Runs a handler once over some blocks of odd sizes at odd addresses, and its identity, if it has
// one: not to prove it right, but to find at once what would spoil packets. Returns an empty text
// if nothing was found; else what it did, and what to do about it.
std::string try_out(const Handler& handler, void (*identity)(void* elements, std::size_t n));

}  // namespace tributary::reduce
