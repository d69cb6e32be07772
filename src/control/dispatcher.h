// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/backend.h"

namespace tributary::control {

// Answers one request of the control protocol with one reply. Whatever the bytes are, a reply comes
// back and nothing is thrown.
std::string dispatch(std::string_view request, Backend& backend);

// Says whether the method changes something; the server logs who called such methods.
bool changes_state(std::string_view method);

}  // namespace tributary::control
