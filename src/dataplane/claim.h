// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "control/config.h"
#include "system/file_descriptor.h"

namespace tributary::dataplane {

// A Claim says that an interface or a TAP is one port's, and no other's in this network namespace:
// two ports that take its frames would each switch every one. It is an abstract Unix socket
// (unix(7)): these belong to the namespace, and vanish with the process that has them, however that
// ends. Other devices have a single user anyway, and nothing is claimed.
class Claim {
 public:
  // The error says which process has the device, and by what command.
  static tl::expected<Claim, std::string> take(const control::DeviceConfig& device);

 private:
  explicit Claim(FileDescriptor socket) : socket_(std::move(socket)) {}

  FileDescriptor socket_;  // no socket: nothing is claimed
};

}  // namespace tributary::dataplane
