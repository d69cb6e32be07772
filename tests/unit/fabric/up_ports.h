// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "forwarding/config.h"

namespace tributary::test {

// An UpPortPolicy is what leaves choose the up-ports of blocks by.
struct UpPortPolicy {
  std::string_view name;
  forwarding::Policy reduction = forwarding::Policy::adaptive;
  std::uint32_t trees = 1;
  std::optional<forwarding::BfdConfig> bfd = {};
};

// What is compared, as in tools/experiment-congestion.
inline constexpr forwarding::BfdConfig bfd_of_up_ports{std::chrono::milliseconds(100), 3};
inline constexpr std::array up_port_policies{
    UpPortPolicy{"adaptive, with BFD", forwarding::Policy::adaptive, 1, bfd_of_up_ports},
    UpPortPolicy{"adaptive", forwarding::Policy::adaptive},
    UpPortPolicy{"one static tree", forwarding::Policy::static_trees},
    UpPortPolicy{"four static trees", forwarding::Policy::static_trees, 4},
    UpPortPolicy{"ECMP", forwarding::Policy::ecmp},
};

// Half of the 16 hosts of a fat tree, drawn by the seed, reduce a vector; the others send full
// packets at line rate to random peers among them. This is tools/experiment-congestion in virtual
// time.
struct UpPortCase {
  bool congested = true;
  std::size_t bytes = 4 << 20;
  std::uint64_t seed = 1;
};

// Returns the goodput of the reduction in bit/s; no value: a result was wrong or missing.
std::optional<double> goodput_of(const UpPortPolicy& policy, const UpPortCase& of);

}  // namespace tributary::test
