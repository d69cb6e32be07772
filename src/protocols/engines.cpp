// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/engines.h"

#include <algorithm>
#include <iterator>

#include "protocols/list.h"

namespace tributary {

// Each protocol's folder defines its `engine_kind`.
#define TRIBUTARY_DECLARE(protocol)            \
  namespace protocol {                         \
  extern const engine::EngineKind engine_kind; \
  }
TRIBUTARY_PROTOCOLS(TRIBUTARY_DECLARE)
#undef TRIBUTARY_DECLARE

namespace protocols {
namespace {

constexpr const engine::EngineKind* kinds[] = {
#define TRIBUTARY_KIND(protocol) &protocol::engine_kind,
    TRIBUTARY_PROTOCOLS(TRIBUTARY_KIND)
#undef TRIBUTARY_KIND
};
static_assert(std::size(kinds) <= protocols_max);

}  // namespace

std::span<const engine::EngineKind* const> engines() {
  return kinds;
}

const engine::Protocol* protocol_over_ethernet(std::uint16_t ethertype) {
  const auto found =
      std::find_if(std::begin(kinds), std::end(kinds), [ethertype](const auto* kind) {
        return kind->protocol.ethertype != 0 && kind->protocol.ethertype == ethertype;
      });
  return found == std::end(kinds) ? nullptr : &(*found)->protocol;
}

std::vector<std::pair<DropReason, std::string>> drop_reasons() {
  std::vector<std::pair<DropReason, std::string>> all;
  for (std::size_t i = 0; i < std::size(common_drop_reasons); ++i) {
    all.emplace_back(static_cast<DropReason>(i), common_drop_reasons[i].name);
  }
  for (std::size_t row = 0; row < std::size(kinds); ++row) {
    const auto& protocol = kinds[row]->protocol;
    for (std::size_t i = 0; i < protocol.drop_reasons.size(); ++i) {
      all.emplace_back(
          protocol_drop_reason(row, i),
          std::string(protocol.name) + "_" + std::string(protocol.drop_reasons[i].name));
    }
  }
  return all;
}

}  // namespace protocols
}  // namespace tributary
