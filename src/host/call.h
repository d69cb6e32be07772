// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/element.h"

namespace tributary {
struct SparseElements;
}

namespace tributary::host {

// The arguments of one collective. `in` and `out` are the same or do not overlap; unaligned is
// fine.
struct Buffers {
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  std::size_t count = 0;  // elements
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;

  std::size_t bytes() const { return count * wire::element_bytes(type); }
};

// The arguments of a sparse allreduce: the elements that are not zero, of a vector of `count`
// elements. Indices are strictly increasing and below `count`, and there are as many values, which
// may be unaligned.
struct SparseBuffers {
  std::span<const std::uint32_t> indices;
  const std::byte* values = nullptr;
  std::size_t count = 0;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
};

// A sparse allreduce, and where its sum goes.
struct SparseCall {
  SparseBuffers buffers;
  SparseElements* sum = nullptr;
};

// By the last two each rank gets the sum of its share (share_of) and leaves the rest of `out`
// alone, or gives its share to all others. CubeNetworks alone asks for them, of carriers that take
// them.
enum class Collective : std::uint8_t {
  allreduce,
  reduce,
  broadcast,
  barrier,
  reduce_scatter,
  allgather
};

constexpr bool is_of_shares(Collective collective) {
  return collective == Collective::reduce_scatter || collective == Collective::allgather;
}

constexpr std::string_view name(Collective collective) {
  constexpr std::array<std::string_view, 6> names = {"allreduce", "reduce",         "broadcast",
                                                     "barrier",   "reduce_scatter", "allgather"};
  return names[static_cast<std::size_t>(collective)];
}

// A collective as all ranks call it: the same but for the buffers' addresses.
struct Call {
  Collective collective = Collective::allreduce;
  Buffers buffers;
  std::uint32_t root = 0;  // of reduce and broadcast
  // An allreduce of sparse vectors has this instead of `buffers`. Only carriers that have said that
  // they take it (Carrier::takes_sparse) are given one.
  const SparseCall* sparse = nullptr;
  // Nobody may be missing, also where sums may lack ranks. What carries it was chosen so; machines
  // whose ranks share one communicator choose by this.
  bool with_all = false;
  bool aside = false;  // nobody who uses the communicator has called it: it is not counted
};

inline Call call_of(Collective collective, const void* in, void* out, std::size_t count,
                    wire::ElementType type, wire::Operator op, std::uint32_t root = 0) {
  return {collective,
          {static_cast<const std::byte*>(in), static_cast<std::byte*>(out), count, type, op},
          root};
}

constexpr std::string_view name(const Call& call) {
  return call.sparse != nullptr ? "sparse_allreduce" : name(call.collective);
}

// Tells whether a handler combines the elements. A broadcast only moves them, whatever its
// operator.
inline bool needs_handler(const Call& call) {
  const bool reduces = call.collective == Collective::allreduce ||
                       call.collective == Collective::reduce ||
                       call.collective == Collective::reduce_scatter;
  return reduces && wire::is_handler(call.buffers.op);
}

}  // namespace tributary::host
