// SPDX-License-Identifier: BSD-3-Clause
#include "background_flows.h"

#include <algorithm>

namespace tributary::bench {

bool ArrivedFlows::arrived(const BackgroundHeader& header) {
  if (header.magic.value() != background_magic || header.sender.value() >= flows_.size()) {
    return false;
  }
  Flow& flow = flows_[header.sender.value()];
  const std::uint64_t sequence = header.sequence.value();
  flow.lowest = flow.packets == 0 ? sequence : std::min(flow.lowest, sequence);
  flow.highest = std::max(flow.highest, sequence);
  ++flow.packets;
  return true;
}

std::uint64_t ArrivedFlows::packets() const {
  std::uint64_t sum = 0;
  for (const Flow& flow : flows_) {
    sum += flow.packets;
  }
  return sum;
}

std::uint64_t ArrivedFlows::lost() const {
  std::uint64_t sum = 0;
  for (const Flow& flow : flows_) {
    const std::uint64_t expected = flow.packets == 0 ? 0 : flow.highest - flow.lowest + 1;
    sum += expected - std::min(expected, flow.packets);  // duplicates make up for nothing more
  }
  return sum;
}

}  // namespace tributary::bench
