// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"

namespace tributary::host {

// The tags that ranks write into the fingerprint words of one message: SipHash-2-4 of message and
// rank, under the call's key, and from packet to packet a constant more.
class MessageTags {
 public:
  MessageTags(const JobKey& key_of_call, std::uint32_t message)
      : key_(key_of_call), message_(message) {}

  std::uint64_t of(std::uint32_t rank) const;
  std::uint64_t total(std::uint32_t world_size) const;
  // Of packet number `packet`, given the tags above of its first packet, of so many ranks.
  static std::uint64_t at(std::uint64_t first, std::uint32_t packet, std::uint32_t ranks) {
    constexpr std::uint64_t step = 0x9e3779b97f4a7c15;  // odd: no two packets have the same
    return first + std::uint64_t{packet} * ranks * step;
  }

 private:
  const JobKey& key_;
  std::uint32_t message_;
};

}  // namespace tributary::host
