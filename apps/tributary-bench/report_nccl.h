// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "report.h"

namespace tributary::bench {

// Makes the table of nccl-tests, with a column for the algorithm and, if the line rate is known,
// one for the share of line-rate goodput; of a barrier, it has the latencies.
std::unique_ptr<Report> make_nccl_report(const Options& options, const Setting& setting);

}  // namespace tributary::bench
