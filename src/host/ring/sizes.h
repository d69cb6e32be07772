// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary::host {

// So many bytes are worth a receive; a schedule that waits for more would keep its neighbour
// waiting.
inline constexpr std::size_t ring_worthwhile_max = 8192;
// For what has come and is not added yet; a multiple of every element's size.
inline constexpr std::size_t ring_staging_bytes = 131072;

}  // namespace tributary::host
