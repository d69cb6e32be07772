// SPDX-License-Identifier: BSD-3-Clause
#include "switch/classifier.h"

#include <algorithm>
#include <cassert>
#include <utility>
#include <vector>

#include "protocols/engines.h"
#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

using forwarding::RangeIndex;

// Makes an index of all 16-bit numbers with what `rows_of` says of each; that changes only at
// `borders`.
template <typename RowsOf>
RangeIndex index_of(std::vector<std::uint32_t> borders, RowsOf&& rows_of) {
  std::sort(borders.begin(), borders.end());
  std::vector<RangeIndex::Range> ranges;
  for (const auto border : borders) {
    if (border <= 0xffff) {
      ranges.push_back({border << 16, rows_of(static_cast<std::uint16_t>(border))});
    }
  }
  return RangeIndex(std::move(ranges));
}

}  // namespace

Classifier::Classifier(const engine::Settings& on) {
  const auto kinds = protocols::engines();
  std::vector<std::uint32_t> ports = {0};
  std::vector<std::uint32_t> types = {0, wire::ethertype::ipv6, wire::ethertype::ipv6 + 1u};
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    if (on.of(row).has_value()) {
      const auto& protocol = kinds[row]->protocol;
      assert(protocol.ethertype != wire::ethertype::ipv4);
      claims_any_ = true;
      for (std::uint32_t port = protocol.udp_ports.first; port <= protocol.udp_ports.last; ++port) {
        is_udp_port_.set(port);
      }
      ports.push_back(protocol.udp_ports.first);
      ports.push_back(protocol.udp_ports.last + 1u);
      types.push_back(protocol.ethertype);
      types.push_back(protocol.ethertype + 1u);
      confirms_[row] = protocol.confirms;
    }
  }
  const auto rows_that = [&](const auto& have_number) {
    std::uint32_t rows = 0;
    for (std::size_t row = 0; row < kinds.size(); ++row) {
      const bool has_it = on.of(row).has_value() && have_number(kinds[row]->protocol);
      rows |= has_it ? 1u << row : 0u;
    }
    return rows;
  };
  udp_ports_ = index_of(std::move(ports), [&](std::uint16_t port) {
    return rows_that([=](const auto& protocol) { return protocol.udp_ports.contain(port); });
  });
  ethertypes_ = index_of(std::move(types), [&](std::uint16_t type) {
    return rows_that([=](const auto& protocol) { return protocol.goes_by(type); });
  });
}

}  // namespace tributary::switching
