// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "packet/packet.h"

namespace tributary::forwarding {

// Returns true if the TCP or UDP checksum of the frame was left to hardware that is not there: the
// field holds the sum of the pseudo-header and is wrong. Kernels leave it so on veth and TAP unless
// `ethtool -K DEV tx off`; receivers behind a real cable would discard such packets. This costs a
// sum over 12 bytes; only where that sum fits is the segment itself summed up.
bool has_unfinished_checksum(const Packet& frame);

}  // namespace tributary::forwarding
