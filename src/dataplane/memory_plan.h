// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"

namespace tributary::dataplane {

// The plan says how large buffers are and how much memory the EAL needs. It is made before the EAL
// starts, because without hugepages that takes all of its memory at once.
struct MemoryPlan {
  std::uint32_t packets = 0;
  std::uint32_t slot_bytes = 0;     // of a device, for one frame and its own headers
  std::uint32_t buffer_bytes = 0;   // of one packet, headroom included
  std::uint32_t megabytes = 0;      // for the EAL
  std::uint32_t own_megabytes = 0;  // for buffers that are not in the EAL's memory
  bool hugepages = false;
  bool shared = false;  // with the backend of a virtio-user port, which maps it

  bool has_own() const { return own_megabytes > 0; }
};

// Returns the free huge pages of all sizes together, in megabytes, as the kernel tells below
// `root`.
std::uint64_t free_hugepage_megabytes(const char* root = "/sys/kernel/mm/hugepages");

std::uint16_t largest_mtu(const control::DaemonConfig& config);

// Returns the bytes of a packet-socket ring slot that a frame of this MTU fits in: a power of two,
// so that the slots of a ring follow each other without gaps.
std::uint32_t slot_bytes_for(std::uint16_t mtu);

// Returns all packets that cores, devices and engines hold.
std::uint32_t packets_of(const control::DaemonConfig& config);

MemoryPlan plan_memory(const control::DaemonConfig& config, std::uint64_t hugepage_megabytes_free);

// Returns what the kernel can give without huge pages, as it says in `file`; no value if it does
// not say.
std::optional<std::uint64_t> available_megabytes(const char* file = "/proc/meminfo");

// Checks that there is enough. To try it instead may take a minute, and others' memory.
tl::expected<void, std::string> check_memory(const MemoryPlan& plan,
                                             std::optional<std::uint64_t> megabytes_available);

}  // namespace tributary::dataplane
