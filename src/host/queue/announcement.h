// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/error.h"
#include "host/queue/shape.h"
#include "wire/cursor.h"

namespace tributary::host {

inline constexpr std::size_t queue_name_bytes_max = 255;

// A name that a rank has posted and not all ranks know yet, and what it stands for.
struct Announced {
  std::string name;
  Shape shape;
};

// An announcement always has as many bytes, so that who receives it need not ask how many.
inline constexpr std::size_t announcement_bytes = 8192;
using Announcement = std::array<std::byte, announcement_bytes>;

// Announces as many names as there is room for, from the first on. Precondition: names have 1 to
// queue_name_bytes_max bytes.
Announcement announcement_of(std::span<const Announced> names);
Result<std::vector<Announced>> parse_announcement(wire::Bytes bytes, std::uint32_t world_size);

}  // namespace tributary::host
