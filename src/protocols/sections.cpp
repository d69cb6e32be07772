// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "control/protocol_section.h"
#include "protocols/list.h"

namespace tributary {

// Each protocol's folder defines its `config_section`.
#define TRIBUTARY_DECLARE(protocol)                     \
  namespace protocol {                                  \
  extern const control::ProtocolSection config_section; \
  }
TRIBUTARY_PROTOCOLS(TRIBUTARY_DECLARE)
#undef TRIBUTARY_DECLARE

namespace control {
namespace {

constexpr const ProtocolSection* sections[] = {
#define TRIBUTARY_SECTION(protocol) &protocol::config_section,
    TRIBUTARY_PROTOCOLS(TRIBUTARY_SECTION)
#undef TRIBUTARY_SECTION
};

}  // namespace

std::span<const ProtocolSection* const> protocol_sections() {
  return sections;
}

const ProtocolSection* tree_section(std::string_view name) {
  const auto found = std::find_if(
      std::begin(sections), std::end(sections),
      [&](const auto* section) { return section->trees != nullptr && section->name == name; });
  return found == std::end(sections) ? nullptr : *found;
}

std::string_view first_tree_engine() {
  const auto found = std::find_if(std::begin(sections), std::end(sections),
                                  [](const auto* section) { return section->trees != nullptr; });
  return found == std::end(sections) ? "" : (*found)->name;
}

}  // namespace control
}  // namespace tributary
