// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "packet/packet.h"

namespace tributary::test {

enum class Receiver { fabric, host };

// Turns a packet into what a stranger might send who has learned everything about the job. Of
// Canary's, but its key: tags are guessed, all else may be right. Of PANAMA's and Flare's, too,
// from an address of his own, which no network lets him change; to switches only, as hosts hear a
// tree's group and nothing else. Of RoCE's, from such an address: gradients, acknowledgements, all
// else. False if it is none of them.
bool forge(Packet& frame, Receiver receiver, std::mt19937_64& random);

}  // namespace tributary::test
