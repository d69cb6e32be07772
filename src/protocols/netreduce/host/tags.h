// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"

namespace tributary::host {

// Gives what a rank writes into the fingerprint words of a message, or what all ranks together do.
// Tags are drawn for message and step, not for each packet: a message has many.
struct MessageTags {
  std::uint64_t first = 0;  // of packet 0
  std::uint64_t step = 0;   // from each packet to the next

  std::uint64_t at(std::uint32_t packet) const { return first + packet * step; }
};

MessageTags message_tags_of(const JobKey& key_of_call, std::uint32_t message, std::uint32_t rank);
MessageTags message_tags_of_all(const JobKey& key_of_call, std::uint32_t message,
                                std::uint32_t world_size);

}  // namespace tributary::host
