// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "pipes.h"

namespace tributary::host::test {

// Returns so many numbers of a rank, which fall within each `grain`; no two ranks have the same.
inline std::vector<std::int32_t> falling_lists(std::uint32_t rank, std::size_t count,
                                               std::size_t grain) {
  std::mt19937 random(rank);
  std::vector<std::int32_t> values(count);
  for (auto& value : values) {
    value = static_cast<std::int32_t>((random() >> 8) * 16 + rank);
  }
  for (std::size_t at = 0; at < count; at += grain) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(at);
    const auto size = static_cast<std::ptrdiff_t>(std::min(grain, count - at));
    std::sort(first, first + size, std::greater<>());
  }
  return values;
}

// Returns the best numbers of the lists at each place, as many as one of the lists has.
inline std::vector<std::int32_t> best_of(const std::vector<std::vector<std::int32_t>>& ranks,
                                         std::size_t grain) {
  std::vector<std::int32_t> best;
  const auto count = ranks.front().size();
  for (std::size_t at = 0; at < count; at += grain) {
    const auto size = std::min(grain, count - at);
    std::vector<std::int32_t> all;
    for (const auto& values : ranks) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(at);
      all.insert(all.end(), first, first + static_cast<std::ptrdiff_t>(size));
    }
    std::sort(all.begin(), all.end(), std::greater<>());
    best.insert(best.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
  }
  return best;
}

// Moves pieces of at most so many bytes until nothing moves, and returns whether all have finished.
template <typename Stream>
bool pump(RingPipes& pipes, const std::vector<std::unique_ptr<Stream>>& streams,
          std::size_t piece_max) {
  std::mt19937 random(11);
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t rank = 0; rank < streams.size(); ++rank) {
      moved |= pipes.send(*streams[rank], rank, 1 + random() % piece_max);
      moved |= pipes.receive(*streams[rank], rank, 1 + random() % piece_max);
    }
  }
  return std::all_of(streams.begin(), streams.end(),
                     [](const auto& stream) { return stream->finished(); });
}

}  // namespace tributary::host::test
