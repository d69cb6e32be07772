// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/tags.h"

#include "host/siphash.h"

namespace tributary::host {

std::uint64_t control_tag(const JobKey& key, wire::CanaryKind kind, std::uint32_t id,
                          std::uint32_t rank) {
  struct [[gnu::packed]] Input {
    wire::be32 id;
    wire::be32 rank;
    wire::CanaryKind kind;
  };
  return siphash(key, Input{wire::be32{id}, wire::be32{rank}, kind});
}

}  // namespace tributary::host
