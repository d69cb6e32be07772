// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/accumulator.h"

#include <cstring>
#include <utility>

namespace tributary::flare {

bool Accumulator::begin(const Shape& shape, PacketPtr& packet, WorkingMemory& memory) {
  if (!reserve(shape, memory.pool())) {
    return false;
  }
  if (!shape.kernel.in_place) {
    widen(shape, *packet, memory.scratch());
  }
  memory.take(shape.buffers);
  buffers_[0] = std::move(packet);
  elements_ = buffers_[0]->data();
  return true;
}

// Takes all buffers but the first, which is the packet itself.
bool Accumulator::reserve(const Shape& shape, PacketPool& pool) {
  for (std::size_t i = 1; i < shape.buffers; ++i) {
    buffers_[i] = pool.allocate();
    const auto bytes = shape.part(i).count * sizeof(float);
    if (buffers_[i] == nullptr || buffers_[i]->tailroom() < bytes) {
      buffers_ = {};
      return false;
    }
  }
  return true;
}

// The packet's own part overlaps what it comes from, and is the last one: the others come from what
// it overwrites.
void Accumulator::widen(const Shape& shape, Packet& packet, std::byte* scratch) {
  for (std::size_t i = 1; i < shape.buffers; ++i) {
    const auto [first, count] = shape.part(i);
    shape.kernel.load(buffers_[i]->data(), packet.data() + first * shape.element_bytes, count);
  }
  const auto count = shape.part(0).count;
  std::memcpy(scratch, packet.data(), count * shape.element_bytes);
  shape.kernel.load(packet.data(), scratch, count);
}

// The packet's own part is the first one: the others go where it was.
void Accumulator::narrow(const Shape& shape, Packet& packet, std::byte* scratch) const {
  const auto own = shape.part(0).count;
  shape.kernel.store(scratch, packet.data(), own);
  std::memcpy(packet.data(), scratch, own * shape.element_bytes);
  for (std::size_t i = 1; i < shape.buffers; ++i) {
    const auto [first, count] = shape.part(i);
    shape.kernel.store(packet.data() + first * shape.element_bytes, buffers_[i]->data(), count);
  }
}

void Accumulator::add(const Shape& shape, const Packet& packet) {
  for (std::size_t i = 0; i < shape.buffers; ++i) {
    const auto [first, count] = shape.part(i);
    shape.kernel.accumulate(buffers_[i]->data(), packet.data() + first * shape.element_bytes,
                            count);
  }
}

void Accumulator::merge(const Shape& shape, Accumulator& other, WorkingMemory& memory) {
  const auto& kernel =
      shape.kernel.in_place ? shape.kernel : reduce::kernel(wire::ElementType::f32, shape.op);
  for (std::size_t i = 0; i < shape.buffers; ++i) {
    kernel.accumulate(buffers_[i]->data(), other.buffers_[i]->data(), shape.part(i).count);
  }
  other.clear(memory);
}

PacketPtr Accumulator::take(const Shape& shape, WorkingMemory& memory) {
  auto sum = std::move(buffers_[0]);
  if (!shape.kernel.in_place) {
    narrow(shape, *sum, memory.scratch());
  }
  memory.give_back(1);
  clear(memory);
  return sum;
}

void Accumulator::clear(WorkingMemory& memory) {
  for (auto& buffer : buffers_) {
    if (buffer != nullptr) {
      memory.give_back(1);
      buffer.reset();
    }
  }
  elements_ = nullptr;
}

}  // namespace tributary::flare
