// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "protocols/canary/wire.h"
#include "support/virtual_fabric.h"
#include "wire/transport.h"

namespace tributary::test {

// Looks at all frames on the cables of a fabric and counts for itself, without any of the code
// under test.
class Watch {
 public:
  explicit Watch(VirtualFabric& fabric) {
    fabric.trace([this](const Hop& hop) { see(hop); });
  }

  // Contributions that came to a switch and that no switch had let pass before.
  std::uint64_t contributions(const std::string& switch_name) const {
    const auto at = contributions_.find(switch_name);
    return at == contributions_.end() ? 0 : at->second;
  }
  // The largest number of blocks with contributions and without a result.
  std::size_t in_flight_max() const { return in_flight_max_; }

 private:
  void see(const Hop& hop) {
    wire::Cursor cursor(hop.frame);
    const auto* ethernet = cursor.take<wire::EthernetHeader>();
    if (ethernet == nullptr || ethernet->type.value() != wire::ethertype::ipv4) {
      return;
    }
    cursor.take<wire::Ipv4Header>();
    cursor.take<wire::UdpHeader>();
    const auto* header = cursor.take<wire::CanaryHeader>();
    if (header == nullptr) {
      return;
    }
    if (header->kind == wire::CanaryKind::contribution && !hop.at_host && !header->bypass()) {
      ++contributions_[std::string(hop.switch_name)];
      if (seen_.insert(header->key()).second) {
        in_flight_.insert(header->key());
        in_flight_max_ = std::max(in_flight_max_, in_flight_.size());
      }
    }
    if (header->kind == wire::CanaryKind::result && hop.at_host) {
      in_flight_.erase(header->key());
    }
  }

  std::map<std::string, std::uint64_t> contributions_;
  std::set<std::uint64_t> seen_;
  std::set<std::uint64_t> in_flight_;
  std::size_t in_flight_max_ = 0;
};

}  // namespace tributary::test
