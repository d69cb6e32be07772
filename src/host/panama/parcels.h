// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "host/call.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// How one collective is cut into packets, and which tree has which: packet p goes to tree p mod N,
// as its packet number p div N there (4.1).
class Parcels {
 public:
  // So that numbers have 32 bits.
  static constexpr std::size_t count_max = 0xffffffff;

  Parcels() = default;
  Parcels(const Call& call, std::uint32_t rank, std::uint32_t packet_bytes, std::uint32_t trees)
      : call_(call), rank_(rank), packet_bytes_(packet_bytes), trees_(trees) {
    const bool barrier = call.collective == Collective::barrier;
    bytes_ = barrier ? 0 : call.buffers.bytes();
    // A barrier is one packet without elements.
    count_ = barrier ? 1 : (bytes_ + packet_bytes - 1) / packet_bytes;
  }

  const Call& call() const { return call_; }
  std::size_t count() const { return count_; }
  std::uint32_t count_in(std::uint32_t tree) const {
    return static_cast<std::uint32_t>(count_ / trees_ + (tree < count_ % trees_ ? 1 : 0));
  }

  // What is on the wire. To broadcast, the root contributes its bits and the others none: a bitwise
  // or is exact for whatever they mean.
  wire::ElementType type() const {
    const auto type = call_.buffers.type;
    return call_.collective == Collective::broadcast ? integer_of(wire::element_bytes(type)) : type;
  }
  wire::Operator op() const {
    return call_.collective == Collective::broadcast ? wire::Operator::bit_or : call_.buffers.op;
  }
  std::uint16_t elements(std::uint32_t tree, std::uint32_t vid) const {
    return static_cast<std::uint16_t>(bytes(tree, vid) / wire::element_bytes(type()));
  }

  // Whether this rank's data goes into the packets; otherwise zeros do.
  bool has_input() const {
    return call_.collective != Collective::broadcast || call_.root == rank_;
  }
  bool wants_result() const {
    return call_.collective != Collective::reduce || call_.root == rank_;
  }
  wire::Bytes in(std::uint32_t tree, std::uint32_t vid) const {
    return {call_.buffers.in + offset(tree, vid), bytes(tree, vid)};
  }
  wire::MutableBytes out(std::uint32_t tree, std::uint32_t vid) const {
    return {call_.buffers.out + offset(tree, vid), bytes(tree, vid)};
  }
  std::size_t bytes(std::uint32_t tree, std::uint32_t vid) const {
    return std::min<std::size_t>(packet_bytes_, bytes_ - offset(tree, vid));
  }

 private:
  static wire::ElementType integer_of(std::size_t bytes) {
    switch (bytes) {
      case 1:
        return wire::ElementType::i8;
      case 2:
        return wire::ElementType::i16;
      case 4:
        return wire::ElementType::i32;
      default:
        return wire::ElementType::i64;
    }
  }
  std::size_t offset(std::uint32_t tree, std::uint32_t vid) const {
    return (std::size_t{vid} * trees_ + tree) * packet_bytes_;
  }

  Call call_;
  std::uint32_t rank_ = 0;
  std::size_t packet_bytes_ = 1;
  std::uint32_t trees_ = 1;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tributary::host
