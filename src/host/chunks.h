// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/reduction.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// Cuts one collective into packets, which are numbered from 0; all but the last are full.
class Chunks : public Reduction {
 public:
  // The numbers of packets have 32 bits.
  static constexpr std::size_t count_max = 0xffffffff;

  Chunks() = default;
  Chunks(const Call& call, std::uint32_t rank, std::uint32_t packet_bytes)
      : Reduction(call, rank), packet_bytes_(packet_bytes) {
    // A barrier is one packet.
    const bool barrier = call.collective == Collective::barrier;
    count_ = barrier ? 1 : (total_bytes() + packet_bytes - 1) / packet_bytes;
  }

  std::size_t count() const { return count_; }
  std::size_t bytes(std::size_t number) const {
    return std::min(packet_bytes_, total_bytes() - offset(number));
  }
  std::uint16_t elements(std::size_t number) const {
    return static_cast<std::uint16_t>(bytes(number) / wire::element_bytes(type()));
  }

  // Returns what this rank contributes to that packet: its data, or as many of `zeros`.
  wire::Bytes contribution(std::size_t number, wire::Bytes zeros) const {
    const auto size = bytes(number);
    return has_input() && size != 0 ? wire::Bytes{call().buffers.in + offset(number), size}
                                    : zeros.first(size);
  }
  // Returns where the result goes, if this rank wants it.
  wire::MutableBytes out(std::size_t number) const {
    const auto size = bytes(number);
    return size == 0 ? wire::MutableBytes{}
                     : wire::MutableBytes{call().buffers.out + offset(number), size};
  }

 private:
  std::size_t offset(std::size_t number) const { return number * packet_bytes_; }

  std::size_t packet_bytes_ = 1;
  std::size_t count_ = 0;
};

}  // namespace tributary::host
