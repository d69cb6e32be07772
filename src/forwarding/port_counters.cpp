// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port_counters.h"

#include <algorithm>

namespace tributary::forwarding {
namespace {

void merge(std::uint64_t& to, std::uint64_t from) {
  to += from;
}
void merge(Duration& to, Duration from) {
  to = std::max(to, from);
}

}  // namespace

PortCounters& PortCounters::operator+=(const PortCounters& other) {
  for (const auto& figure : port_figures) {
    std::visit([&](auto member) { merge(this->*member, other.*member); }, figure.member);
  }
  return *this;
}

}  // namespace tributary::forwarding
