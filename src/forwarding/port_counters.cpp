// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port_counters.h"

#include <algorithm>

namespace tributary::forwarding {

PortCounters& PortCounters::operator+=(const PortCounters& other) {
  for (const auto& figure : port_figures) {
    auto& count = this->*figure.member;
    const auto more = other.*figure.member;
    count = figure.is_time ? std::max(count, more) : count + more;
  }
  return *this;
}

}  // namespace tributary::forwarding
