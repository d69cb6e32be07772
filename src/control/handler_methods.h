// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "control/backend.h"
#include "control/params.h"

namespace tributary::control {

// These are the methods handler.* of the control protocol.
Answer list_handlers(Backend& backend, std::size_t limit);
Answer load_handler(Backend& backend, const nlohmann::json& params);
Answer unload_handler(Backend& backend, const nlohmann::json& params);

}  // namespace tributary::control
