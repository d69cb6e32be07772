// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "packet_loop.h"
#include "traffic/session.h"

namespace tributary::pktgen {

// A Reading is the generator as it was at one time between two bursts.
struct Reading {
  double seconds = 0;  // since the start
  traffic::Session::View view;
  std::vector<PortCounters> ports;
};

}  // namespace tributary::pktgen
