// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/call.h"
#include "host/element_types.h"
#include "wire/element.h"

namespace tributary::host {

// A collective as the allreduce that a network makes of it. To broadcast, the root contributes its
// bits and the others none: a bitwise or is exact for whatever they mean; elements that are wider
// than any integer are several of these. A barrier has no elements.
class Reduction {
 public:
  Reduction() = default;
  Reduction(const Call& call, std::uint32_t rank) : call_(call), rank_(rank) {}

  const Call& call() const { return call_; }
  // Nothing is sent for an empty call, and it does not count as one.
  bool is_empty() const {
    return call_.buffers.count == 0 && call_.collective != Collective::barrier;
  }
  std::size_t total_bytes() const {
    return call_.collective == Collective::barrier ? 0 : call_.buffers.bytes();
  }
  // The type and the operator are those on the wire.
  wire::ElementType type() const {
    const auto type = call_.buffers.type;
    return call_.collective == Collective::broadcast ? integer_of(wire::element_bytes(type)) : type;
  }
  wire::Operator op() const {
    return call_.collective == Collective::broadcast ? wire::Operator::bit_or : call_.buffers.op;
  }

  // Tells whether this rank's data is sent; otherwise zeros are.
  bool has_input() const {
    return call_.collective != Collective::broadcast || call_.root == rank_;
  }
  // Where the root of a broadcast has its elements, nobody may be allowed to write.
  bool wants_result() const {
    switch (call_.collective) {
      case Collective::reduce:
        return call_.root == rank_;
      case Collective::broadcast:
        return call_.root != rank_;
      default:
        return true;
    }
  }

 private:
  Call call_;
  std::uint32_t rank_ = 0;
};

}  // namespace tributary::host
