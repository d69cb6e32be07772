// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "packet/packet.h"

namespace tributary::test {

// Turns a packet into what a stranger might send who has learned everything about the job. Of
// Canary's, but its key: tags are guessed, all else may be right. Of RoCE's, from an address of his
// own, which no network lets him change: gradients, acknowledgements, all else. False if it is
// neither.
bool forge(Packet& frame, std::mt19937_64& random);

}  // namespace tributary::test
