// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/chunks.h"

namespace tributary::host {

// Tells which tree has which packet of a collective: packet p goes to tree p mod N, as its packet
// number p div N there (4.1).
class PanamaChunks : public Chunks {
 public:
  PanamaChunks() = default;
  PanamaChunks(const Call& call, std::uint32_t rank, std::uint32_t packet_bytes,
               std::uint32_t trees)
      : Chunks(call, rank, packet_bytes), trees_(trees) {}

  std::uint32_t count_in(std::uint32_t tree) const {
    return static_cast<std::uint32_t>(count() / trees_ + (tree < count() % trees_ ? 1 : 0));
  }
  std::size_t number(std::uint32_t tree, std::uint32_t vid) const {
    return std::size_t{vid} * trees_ + tree;
  }

 private:
  std::uint32_t trees_ = 1;
};

}  // namespace tributary::host
