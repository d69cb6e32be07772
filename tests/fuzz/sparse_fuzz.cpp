// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/ring/sparse_schedule.h"
#include "host/sparse_vector.h"
#include "input.h"

// What the rank before may send of a sparse allreduce. Nothing may crash, and where all of it was
// taken, the sum is a vector.
namespace {

using namespace tributary;
using namespace tributary::host;
using fuzz::Input;

// The first of all: see is_sparse_type().
constexpr unsigned sparse_types = 8;
static_assert(is_sparse_type(static_cast<wire::ElementType>(sparse_types - 1)) &&
              !is_sparse_type(static_cast<wire::ElementType>(sparse_types)));

std::vector<std::uint32_t> every(std::size_t stride, std::size_t count) {
  std::vector<std::uint32_t> indices;
  for (std::size_t index = 0; index < count; index += stride) {
    indices.push_back(static_cast<std::uint32_t>(index));
  }
  return indices;
}

void check(const SparseElements& sum) {
  const auto& indices = sum.indices;
  const auto elements = sum.is_dense() ? sum.count : indices.size();
  assert(sum.values.size() == elements * wire::element_bytes(sum.type));
  assert(std::is_sorted(indices.begin(), indices.end()));
  assert(std::adjacent_find(indices.begin(), indices.end()) == indices.end());
  assert(indices.empty() || indices.back() < sum.count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input({data, size});
  const std::uint32_t ranks = 2 + input.next() % 3u;
  const std::uint32_t rank = input.next() % ranks;
  const auto type = static_cast<wire::ElementType>(input.next() % sparse_types);
  const std::size_t count = input.next();
  const auto indices = every(1 + input.next() % 16u, count);
  const std::vector<std::byte> values(indices.size() * wire::element_bytes(type), std::byte{1});
  SparseSchedule schedule({indices, values.data(), count, type, wire::Operator::sum}, rank, ranks);
  while (!input.empty() && schedule.is_sound() && !schedule.finished()) {
    const auto to_send = std::min<std::size_t>(input.next(), schedule.sendable().size());
    if (to_send != 0) {
      schedule.sent(to_send);
    }
    const auto room = schedule.receivable();
    const auto to_receive = std::min<std::size_t>(input.next(), room.size());
    for (auto& byte : room.first(to_receive)) {
      byte = static_cast<std::byte>(input.next());
    }
    if (to_receive != 0) {
      schedule.received(to_receive);
    }
  }
  if (schedule.finished()) {
    check(schedule.sum());
  }
  return 0;
}
