// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>

#include "host/call.h"
#include "host/communicator_options.h"
#include "host/error.h"
#include "wire/element.h"

namespace tributary::host {

// The most elements of a vector: the bytes of more could not be counted.
inline constexpr std::size_t elements_max =
    std::numeric_limits<std::size_t>::max() / wire::element_bytes_max;

// Tells whether the bytes of the buffers can be counted; those of a refused call perhaps cannot.
inline bool is_countable(const Buffers& buffers) {
  return static_cast<std::size_t>(buffers.type) < wire::element_type_count &&
         buffers.count <= elements_max;
}

// Returns a call in place of a refused one whose bytes cannot be counted: other ranks may have
// begun theirs, so that it is counted. An unknown type stands for one of four bytes, as most are.
inline Call countable(Call call) {
  auto& buffers = call.buffers;
  if (static_cast<std::size_t>(buffers.type) >= wire::element_type_count) {
    buffers.type = wire::ElementType::f32;
    if (!wire::is_valid(buffers.type, buffers.op)) {
      buffers.type = wire::ElementType::i32;
      buffers.op = wire::Operator::bit_or;
    }
  }
  buffers.count = buffers.count > elements_max ? 1 : buffers.count;
  return call;
}

// Checks whether the arguments of a collective make sense on this rank; the error says which do
// not. Any thread may call it at any time.
Result<void> check(const Call& call, const CommunicatorOptions& options);
Result<void> check(const SparseBuffers& buffers);

}  // namespace tributary::host
