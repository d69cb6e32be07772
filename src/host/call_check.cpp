// SPDX-License-Identifier: BSD-3-Clause
#include "host/call_check.h"

#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "wire/element.h"

namespace tributary::host {
namespace {

bool writes_out(const Call& call, std::uint32_t rank) {
  return call.collective != Collective::reduce || call.root == rank;
}

}  // namespace

Result<void> check(const Call& call, const CommunicatorOptions& options) {
  const auto invalid = [](std::string why) {
    return fail(Error::Code::invalid_argument, std::move(why));
  };
  const auto& buffers = call.buffers;
  if (call.root >= options.world_size) {
    return invalid("there is no such root among the ranks");
  }
  if (!wire::is_valid(buffers.type, buffers.op)) {
    return invalid(std::string(wire::valid_combinations) +
                   "; type and operator must be known ones");
  }
  const bool has_out = writes_out(call, options.rank);
  if (buffers.count != 0 && (buffers.in == nullptr || (has_out && buffers.out == nullptr))) {
    return invalid("null buffer");
  }
  if (buffers.count > std::numeric_limits<std::size_t>::max() / wire::element_bytes_max) {
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

}  // namespace tributary::host
