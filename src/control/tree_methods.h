// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "control/backend.h"
#include "control/params.h"

namespace tributary::control {

// These are the methods tree.* of the control protocol.
Answer list_trees(Backend& backend, std::size_t limit);
Answer install_trees(Backend& backend, const nlohmann::json& params);
Answer remove_trees(Backend& backend, const nlohmann::json& params);

}  // namespace tributary::control
