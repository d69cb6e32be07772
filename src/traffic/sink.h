// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "packet/packet.h"

namespace tributary::traffic {

// Takes one frame of a file; the packet stays with the caller.
using Sink = std::function<void(Packet& frame)>;
// The same, of the file with that number.
using FileSink = std::function<void(std::size_t file, Packet& frame)>;

}  // namespace tributary::traffic
