// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <type_traits>

#include "engine/engine.h"

namespace tributary::engine {

// Brings `bytes` bytes from `first` on to the cache.
inline void prefetch(const void* first, std::size_t bytes) {
  constexpr std::size_t cache_line = 64;
  const auto* at = static_cast<const std::byte*>(first);
#pragma GCC unroll 4
  for (std::size_t i = 0; i < bytes; i += cache_line) {
    __builtin_prefetch(at + i);
  }
}

// Handles a burst in its order. What a packet needs is fetched from memory while those before it
// are handled: first `locate` finds its place, which tells where the rest is, then `fetch` gets
// that. Its place is looked up once, for both and for `handle`.
template <typename Locate, typename Fetch, typename Handle>
void handle_ahead(std::span<Arrival> burst, const Locate& locate, const Fetch& fetch,
                  const Handle& handle) {
  constexpr std::size_t place_ahead = 6;
  constexpr std::size_t contents_ahead = 3;
  std::array<std::invoke_result_t<Locate, const Frame&>, 2 * contents_ahead + 2> places;
  static_assert(std::has_single_bit(places.size()) && places.size() > place_ahead);
  const auto place_of = [&places](std::size_t i) -> auto& {
    return places[i % places.size()];
  };
  const auto look = [&](std::size_t i) {
    if (i < burst.size()) {
      place_of(i) = locate(burst[i].frame);
    }
  };
  for (std::size_t i = 0; i < place_ahead; ++i) {
    look(i);
  }
  for (std::size_t i = 0; i < burst.size(); ++i) {
    look(i + place_ahead);
    if (const auto next = i + contents_ahead; next < burst.size()) {
      fetch(place_of(next), burst[next].frame);
    }
    handle(place_of(i), burst[i]);
  }
}

}  // namespace tributary::engine
