// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/backend.h"

namespace tributary::control {

// One request of the control protocol in, one reply out. Whatever the bytes are, a reply comes
// back and nothing is thrown.
std::string dispatch(std::string_view request, Backend& backend);

// Methods that change something; the server logs who called them.
bool changes_state(std::string_view method);

}  // namespace tributary::control
