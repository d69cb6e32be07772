// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/fusion.h"

#include <algorithm>

#include "host/call_check.h"
#include "host/exact/formats.h"
#include "wire/element.h"

namespace tributary::host {
namespace {

// A handler may look at more than one element at a time, and so not at those of another vector.
bool may_be_fused(const Call& call) {
  return call.collective == Collective::allreduce && !needs_handler(call) &&
         call.buffers.count <= elements_max;
}

bool is_of_a_kind(const Call& one, const Call& other) {
  return one.collective == other.collective && one.buffers.type == other.buffers.type &&
         one.buffers.op == other.buffers.op;
}

// Tells whether the bits of an element depend on what it shares a vector with.
bool is_reproduced_alone(const Call& call) {
  const auto op = call.buffers.op;
  return exact::is_float(call.buffers.type) &&
         (op == wire::Operator::sum || op == wire::Operator::prod);
}

}  // namespace

std::vector<Batch> fuse(std::span<const Call> calls, std::size_t bytes_max, bool reproducible) {
  std::vector<Batch> batches;
  for (std::size_t place = 0; place < calls.size(); ++place) {
    const auto& call = calls[place];
    const auto bytes = call.buffers.bytes();
    const auto takes = [&](const Batch& batch) {
      return bytes <= bytes_max && batch.bytes <= bytes_max - bytes &&
             is_of_a_kind(calls[batch.calls.front()], call);
    };
    const bool may_join = may_be_fused(call) && !(reproducible && is_reproduced_alone(call));
    const auto batch =
        may_join ? std::find_if(batches.begin(), batches.end(), takes) : batches.end();
    if (batch == batches.end()) {
      batches.push_back({{place}, bytes});
    } else {
      batch->calls.push_back(place);
      batch->bytes += bytes;
    }
  }
  return batches;
}

Call gather(std::span<const Call> calls, const Batch& batch, std::vector<std::byte>& buffer) {
  buffer.resize(batch.bytes);
  auto* to = buffer.data();
  for (const auto place : batch.calls) {
    const auto& part = calls[place].buffers;
    to = std::copy_n(part.in, part.bytes(), to);
  }
  auto all = calls[batch.calls.front()];
  all.buffers.in = buffer.data();
  all.buffers.out = buffer.data();
  all.buffers.count = batch.bytes / wire::element_bytes(all.buffers.type);
  return all;
}

void scatter(const std::vector<std::byte>& buffer, std::span<const Call> calls,
             const Batch& batch) {
  const auto* from = buffer.data();
  for (const auto place : batch.calls) {
    const auto& part = calls[place].buffers;
    std::copy_n(from, part.bytes(), part.out);
    from += part.bytes();
  }
}

}  // namespace tributary::host
