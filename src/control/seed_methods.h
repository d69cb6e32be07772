// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "control/backend.h"
#include "control/params.h"

namespace tributary::control {

// By `seed.set` a controller gives a switch the seed of its level of the fabric, or takes it back.
Answer set_seed(Backend& backend, const nlohmann::json& given);

}  // namespace tributary::control
