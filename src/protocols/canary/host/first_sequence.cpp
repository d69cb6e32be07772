// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/first_sequence.h"

#include "protocols/canary/host/tags.h"
#include "protocols/canary/wire.h"

namespace tributary::host {

std::uint32_t first_sequence(const JobKey& key) {
  constexpr std::uint32_t nobody = 0xffffffff;
  const auto hash = control_tag(key, wire::CanaryKind::contribution, 0, nobody);
  return static_cast<std::uint32_t>(hash) & wire::canary_sequence_mask;
}

}  // namespace tributary::host
