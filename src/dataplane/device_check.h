// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// What a driver would refuse with no more than an error number: names and files.
tl::expected<void, std::string> check_device(const control::DeviceConfig& device);

}  // namespace tributary::dataplane
