// SPDX-License-Identifier: BSD-3-Clause
#include "host/call_check.h"

#include <string>

#include "host/sparse_vector.h"
#include "host/text.h"
#include "reduce/kernel.h"

namespace tributary::host {
namespace {

bool writes_out(const Call& call, std::uint32_t rank) {
  return call.collective != Collective::reduce || call.root == rank;
}

// Fails if the operator's handler is not loaded here.
Result<void> check_handler(const Buffers& buffers) {
  if (reduce::find_kernel(buffers.type, buffers.op) != nullptr) {
    return {};
  }
  const auto number = std::to_string(wire::handler_number(buffers.op));
  return invalid("this process has no handler " + number + " for elements of type " +
                 std::string(wire::name(buffers.type)) + ": load it with load_handler(" + number +
                 ", ...) on all ranks before, or give it elements of the type that it was loaded "
                 "for");
}

// Fails if indices do not increase, or are beyond the vector: their values would be added to other
// elements.
Result<void> check_indices(const SparseBuffers& buffers) {
  const auto& indices = buffers.indices;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] >= buffers.count) {
      return invalid("index " + std::to_string(indices[i]) + " is beyond the " +
                     std::to_string(buffers.count) + " elements of the vector");
    }
    if (i != 0 && indices[i] <= indices[i - 1]) {
      return invalid("index " + std::to_string(indices[i]) + " comes behind " +
                     std::to_string(indices[i - 1]) +
                     "; indices must be strictly increasing: sort them, and add up what has the "
                     "same index");
    }
  }
  return {};
}

}  // namespace

Result<void> check(const Call& call, const CommunicatorOptions& options) {
  const auto& buffers = call.buffers;
  if (call.root >= options.world_size) {
    return invalid("there is no such root among the ranks");
  }
  if (!wire::is_valid(buffers.type, buffers.op)) {
    return invalid(std::string(wire::valid_combinations) +
                   "; type and operator must be known ones");
  }
  if (needs_handler(call) && options.reproducible) {
    return invalid(
        "handlers combine in any order, so a reproducible communicator has none: make another "
        "communicator for them");
  }
  if (auto loaded = needs_handler(call) ? check_handler(buffers) : Result<void>{}; !loaded) {
    return loaded;
  }
  const bool has_out = writes_out(call, options.rank);
  if (buffers.count != 0 && (buffers.in == nullptr || (has_out && buffers.out == nullptr))) {
    return invalid("null buffer");
  }
  if (buffers.count > elements_max) {
    return invalid("the count is impossible");
  }
  const auto distance = buffers.in < buffers.out
                            ? static_cast<std::size_t>(buffers.out - buffers.in)
                            : static_cast<std::size_t>(buffers.in - buffers.out);
  if (has_out && distance != 0 && distance < buffers.bytes()) {
    return invalid("in and out overlap without being the same");
  }
  return {};
}

Result<void> check(const SparseBuffers& buffers) {
  if (!wire::is_valid(buffers.type, buffers.op)) {
    return invalid("type and operator must be known ones");
  }
  if (!is_sparse_type(buffers.type)) {
    return invalid("a sparse allreduce has no elements of type " +
                   std::string(wire::name(buffers.type)) +
                   ": give it wider ones, or call allreduce with all elements");
  }
  if (buffers.op != wire::Operator::sum) {
    return invalid("a sparse allreduce adds up, and has no operator " +
                   std::string(wire::name(buffers.op)) +
                   ": give it sum, or call allreduce with all elements");
  }
  if (buffers.count > sparse_count_max) {
    return invalid("a sparse allreduce takes up to " + std::to_string(sparse_count_max) +
                   " elements, not " + std::to_string(buffers.count) + "; split the vector");
  }
  if (!buffers.indices.empty() && buffers.values == nullptr) {
    return invalid("null buffer");
  }
  return check_indices(buffers);
}

}  // namespace tributary::host
