// SPDX-License-Identifier: BSD-3-Clause
// These collectives are an allreduce with something around it. Through switches a rank sends and
// receives as many bytes as by the hosts' own algorithms, but for one rank's part; round the ring
// it sends twice as many.
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

#include "host/call.h"
#include "host/call_check.h"
#include "host/communicator_state.h"
#include "host/text.h"
#include "wire/element.h"

namespace tributary {
namespace {

using host::Call;
using host::Collective;

// Returns the number of elements of all ranks, with `count` for each; nothing if it cannot be
// counted.
std::optional<std::size_t> elements_of_all(std::size_t count, std::uint32_t world_size) {
  return count > host::elements_max / world_size ? std::nullopt : std::optional(count * world_size);
}

// Stands for a call that is refused before its bytes are known. Ranks that were right have begun
// theirs, so it is counted.
Call unknown_bytes(std::size_t count) {
  return host::call_of(Collective::allreduce, nullptr, nullptr, count, wire::ElementType::i8,
                       wire::Operator::bit_or);
}

tl::unexpected<Error> impossible() {
  return host::invalid("the count is impossible: that of all ranks together cannot be counted");
}

std::size_t bytes_of(std::size_t count, wire::ElementType type) {
  return wire::is_valid(type, wire::any_operator(type)) ? count * wire::element_bytes(type) : 0;
}

}  // namespace

// Each rank's part stands among zeros, and "or" with zeros leaves it as it is.
Result<void> Communicator::allgather(const void* in, void* out, std::size_t count,
                                     wire::ElementType type) {
  const auto all = elements_of_all(count, world_size());
  if (!all) {
    leave_out_gather(unknown_bytes(1));
    return impossible();
  }
  if (!wire::is_valid(type, wire::any_operator(type))) {
    leave_out_gather(unknown_bytes(*all));
    return host::invalid("the element type must be a known one");
  }
  Call call{Collective::allreduce,
            {nullptr, nullptr, bytes_of(*all, type), wire::ElementType::i8, wire::Operator::bit_or},
            0};
  if (in != nullptr && out != nullptr && !is_late()) {
    auto* const place = static_cast<std::byte*>(out);
    const auto mine = bytes_of(count, type);
    const auto before = rank() * mine;
    std::memmove(place + before, in, mine);
    std::memset(place, 0, before);
    std::memset(place + before + mine, 0, call.buffers.count - before - mine);
    call.buffers.in = call.buffers.out = place;
  }
  return run_gather(call, *all);
}

Result<void> Communicator::reduce_scatter(const void* in, void* out, std::size_t count,
                                          wire::ElementType type, wire::Operator op) {
  const auto all = elements_of_all(count, world_size());
  if (!all) {
    leave_out(unknown_bytes(1));
    return impossible();
  }
  std::vector<std::byte> results;
  try {
    results.resize(bytes_of(*all, type));
  } catch (const std::exception&) {  // no memory, or more than there can be
    leave_out(call_of(host::Collective::allreduce, nullptr, nullptr, *all, type, op));
    return fail(Error::Code::internal, "no memory for the results of all ranks; split the vector");
  }
  auto* const to = out == nullptr ? nullptr : results.data();
  return allreduce(in, to, *all, type, op).map([&] {
    const auto mine = bytes_of(count, type);
    if (mine != 0) {
      std::memcpy(out, results.data() + rank() * mine, mine);
    }
    state_->last.first = rank() * count;
    state_->last.end = state_->last.first + count;
  });
}

}  // namespace tributary
