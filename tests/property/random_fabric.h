// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// Hosts and switches that have IPv6 have addresses of this prefix.
inline constexpr wire::EmbeddingPrefix hosts_prefix{0x20010db800640000, 0};

// Makes the fabric of a shape: one switch, leaves and spines, or pods of leaves and spines under
// roots. Host h of leaf l (from 1, over all pods) is 10.l.h.2, or 10.l.0.h on the leaf's bridge;
// over IPv6 its address embeds that one.
FabricSpec make_fabric(const Shape& shape);

}  // namespace tributary::test
