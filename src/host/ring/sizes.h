// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary::host {

// Up to so many bytes a vector is added by recursive doubling, unless ranks have measured what is
// better. What counts for short vectors is how often ranks wait for each other: log2 of their
// number instead of twice their number; beyond it, that every byte goes log2 times over a link
// instead of twice.
inline constexpr std::size_t doubling_bytes_max = 32768;

// So many bytes are worth a receive; a schedule that waits for more would keep its neighbour
// waiting.
inline constexpr std::size_t ring_worthwhile_max = 8192;
// There is so much room for what has come and is not added yet; a multiple of every element's size.
inline constexpr std::size_t ring_staging_bytes = 131072;

}  // namespace tributary::host
