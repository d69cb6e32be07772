// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/endian.h"

namespace tributary::bench {

// This stands in front of the padding of every datagram of the background traffic. The sequence
// numbers of a flow, from one host of the list to another, begin at 0.
struct BackgroundHeader {
  wire::be32 magic;
  wire::be32 sender;  // its place in the list
  wire::be64 sequence;
};
static_assert(sizeof(BackgroundHeader) == 16);
inline constexpr std::uint32_t background_magic = 0x54524247;  // "TRBG"

// ArrivedFlows counts what arrived on the flows to this host. Order does not matter: switches may
// spray a flow.
class ArrivedFlows {
 public:
  explicit ArrivedFlows(std::size_t senders) : flows_(senders) {}

  // Returns false if the datagram is not one of ours.
  bool arrived(const BackgroundHeader& header);

  std::uint64_t packets() const;
  // Counts gaps in the sequence numbers. What was lost behind the last packet that came is not
  // known here.
  std::uint64_t lost() const;

 private:
  struct Flow {
    std::uint64_t packets = 0;
    std::uint64_t lowest = 0;
    std::uint64_t highest = 0;
  };
  std::vector<Flow> flows_;
};

}  // namespace tributary::bench
