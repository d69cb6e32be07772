// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/reduction.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// How one collective is cut into packets, and which tree has which: packet p goes to tree p mod N,
// as its packet number p div N there (4.1).
class Chunks : public Reduction {
 public:
  // So that numbers have 32 bits.
  static constexpr std::size_t count_max = 0xffffffff;

  Chunks() = default;
  Chunks(const Call& call, std::uint32_t rank, std::uint32_t packet_bytes, std::uint32_t trees)
      : Reduction(call, rank), packet_bytes_(packet_bytes), trees_(trees) {
    // A barrier is one packet.
    const bool barrier = call.collective == Collective::barrier;
    count_ = barrier ? 1 : (total_bytes() + packet_bytes - 1) / packet_bytes;
  }

  std::size_t count() const { return count_; }
  std::uint32_t count_in(std::uint32_t tree) const {
    return static_cast<std::uint32_t>(count_ / trees_ + (tree < count_ % trees_ ? 1 : 0));
  }

  std::uint16_t elements(std::uint32_t tree, std::uint32_t vid) const {
    return static_cast<std::uint16_t>(bytes(tree, vid) / wire::element_bytes(type()));
  }

  wire::Bytes in(std::uint32_t tree, std::uint32_t vid) const {
    return {call().buffers.in + offset(tree, vid), bytes(tree, vid)};
  }
  wire::MutableBytes out(std::uint32_t tree, std::uint32_t vid) const {
    return {call().buffers.out + offset(tree, vid), bytes(tree, vid)};
  }
  std::size_t bytes(std::uint32_t tree, std::uint32_t vid) const {
    return std::min<std::size_t>(packet_bytes_, total_bytes() - offset(tree, vid));
  }

 private:
  std::size_t offset(std::uint32_t tree, std::uint32_t vid) const {
    return (std::size_t{vid} * trees_ + tree) * packet_bytes_;
  }

  std::size_t packet_bytes_ = 1;
  std::uint32_t trees_ = 1;
  std::size_t count_ = 0;
};

}  // namespace tributary::host
