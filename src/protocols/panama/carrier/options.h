// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/communicator_options.h"
#include "host/error.h"
#include "host/parameter.h"
#include "wire/ipv4.h"

namespace tributary::host {

inline constexpr Parameter panama_parameters[] = {
    {.name = "trees",
     .kind = Parameter::Kind::list,
     .help = "multicast groups of the job's aggregation trees, in the order of their ids",
     .option = "--trees",
     .agreed = true},
    {.name = "congestion_control",
     .kind = Parameter::Kind::on_or_off,
     .otherwise = "on",
     .help = "`off`: each tree's window is what its switches have room for",
     .option = "--congestion-control",
     .agreed = true},
    {.name = "share",
     .kind = Parameter::Kind::share,
     .otherwise = "1",
     .help =
         "share of the ranks that a sum needs, rounded up to whole ranks; the trees must be set "
         "up for the same quorum",
     .option = "--share",
     .agreed = true},
};

struct PanamaOptions {
  std::vector<std::string> trees;  // multicast groups of the job's aggregation trees, by their ids
  bool congestion_control;
  double share;  // of the ranks, that a sum needs: partial aggregation
};

PanamaOptions panama_options_of(const CommunicatorOptions& options);

Result<void> check_panama(const CommunicatorOptions& options);
Result<std::vector<wire::Ipv4Address>> groups_of(const PanamaOptions& options);

}  // namespace tributary::host
