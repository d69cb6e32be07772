// SPDX-License-Identifier: BSD-3-Clause
#include "control/protocol_section.h"
#include "protocols/list.h"

namespace tributary {

// What each protocol's folder defines.
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

}  // namespace control
}  // namespace tributary
