// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/adder.h"

#include <cstdint>
#include <limits>
#include <utility>

namespace tributary::panama {

Adder::Adder(PacketPool& pool)
    : pool_(pool),
      wide_(std::make_unique_for_overwrite<float[]>(std::numeric_limits<std::uint16_t>::max())) {}

void Adder::add_in_order(Tree& tree, Row& row) {
  const auto& kernel = *row.kernel;
  if (!kernel.in_place || tree.is_partial()) {
    return;
  }
  for (; row.next < tree.children() && (row.arrived >> row.next & 1) != 0; ++row.next) {
    auto packet = std::move(row.waiting[row.next]);
    if (row.next == 0) {
      row.elements = elements_in(*packet);
      row.accumulator = std::move(packet);
    } else {
      kernel.accumulate(row.elements, elements_in(*packet), row.header.elements.value());
    }
  }
}

// Floats of 16 and 8 bits are added as f32 and rounded once.
PacketPtr Adder::add_up(Tree& tree, Row& row) {
  if (row.accumulator) {
    return std::move(row.accumulator);
  }
  const auto& kernel = *row.kernel;
  const std::size_t count = row.header.elements.value();
  PacketPtr sum;
  void* accumulator = wide_.get();
  for (std::uint8_t child = 0; child < tree.children(); ++child) {
    auto& packet = row.waiting[child];
    if (!packet) {
      continue;
    }
    if (sum) {
      kernel.accumulate(accumulator, elements_in(*packet), count);
      continue;
    }
    sum = tree.may_send_more() ? pool_.clone(*packet) : std::move(packet);
    if (!sum) {
      return nullptr;
    }
    if (kernel.in_place) {
      accumulator = elements_in(*sum);
    } else {
      kernel.load(accumulator, elements_in(*sum), count);
    }
  }
  if (!kernel.in_place) {
    kernel.store(elements_in(*sum), accumulator, count);
  }
  return sum;
}

}  // namespace tributary::panama
