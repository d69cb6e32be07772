// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/parameter.h"
#include "host/traffic_class.h"
#include "protocols/flare/wire.h"

namespace tributary::host {

inline constexpr Parameter flare_parameters[] = {
    {.name = "flare_tree",
     .kind = Parameter::Kind::text,
     .help = "multicast group of the job's reduction tree",
     .option = "--flare-tree",
     .agreed = true},
    {.name = "flare_window",
     .otherwise = "64",
     .help = "blocks that a rank may have in flight, as the switches' tree has it (`window`)",
     .option = "--flare-window",
     .agreed = true,
     .least = 1,
     .most = wire::flare_window_max},
    {.name = "flare_sparse_window",
     .otherwise = "0",
     .help =
         "blocks of a sparse allreduce that a rank may have in flight, as the switches' tree has "
         "it (`sparse_window`); 0: the hosts' ring carries sparse allreduces",
     .option = "--flare-sparse-window",
     .agreed = true,
     .most = wire::flare_window_max},
    dscp_parameter,
};

struct FlareOptions {
  std::string tree;  // its multicast group; empty: there is none
  std::uint32_t window = 0;
  std::uint32_t sparse_window = 0;  // 0: switches add up no sparse vectors
};

FlareOptions flare_options_of(const CommunicatorOptions& options);
bool has_tree(const CommunicatorOptions& options);

// A job without a tree is none of Flare's, and goes by the ring where that may be.
Result<void> check_flare(const CommunicatorOptions& options);

}  // namespace tributary::host
