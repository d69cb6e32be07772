// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>

#include <gtest/gtest.h>

#include "memory_network.h"
#include "unit/host/vectors.h"

namespace tributary::host::test {

constexpr auto deadline_after = std::chrono::seconds(10);

inline void begin_all(MemoryNetwork& network, Vectors& vectors) {
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    network[rank].begin(vectors.apart(rank), network.now, network.now + deadline_after);
  }
}

inline void expect_all_done(MemoryNetwork& network) {
  for (std::uint32_t rank = 0; rank < network.size(); ++rank) {
    EXPECT_FALSE(network[rank].running()) << "rank " << rank;
    EXPECT_FALSE(network[rank].failure()) << network[rank].failure()->message;
  }
}

}  // namespace tributary::host::test
