// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "packet/packet.h"

namespace tributary::test {

enum class Receiver { fabric, host };

// Turns a packet into what a stranger might send who has learned everything about the job but, for
// Canary, its key: tags are guessed there, all else may be right. Packets of PANAMA and Flare come
// from an address of his own, which no network lets him change; they are forged for switches only,
// as hosts hear a tree's group and nothing else. Packets of RoCE come from such an address, too:
// gradients, acknowledgements, all else. Returns false if it is none of them.
bool forge(Packet& frame, Receiver receiver, std::mt19937_64& random);

}  // namespace tributary::test
