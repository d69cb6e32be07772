// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "packet/packet.h"

namespace tributary::test {

// Turns a Canary packet into what a stranger might send who has learned everything about the job
// but its key: tags are guessed, all else may be right. False if it is no Canary packet.
bool forge(Packet& frame, std::mt19937_64& random);

}  // namespace tributary::test
