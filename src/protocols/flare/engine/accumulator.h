// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>

#include "engine/prefetch.h"
#include "packet/packet.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/working_memory.h"
#include "protocols/flare/wire.h"
#include "reduce/kernel.h"
#include "wire/element.h"

namespace tributary::flare {

// Tells what the elements of a block are, and how they are added up.
struct Shape {
  explicit Shape(const wire::FlareHeader& header)
      : kernel(reduce::kernel(header.element_type, header.op)),
        op(header.op),
        elements(header.elements.value()),
        element_bytes(wire::element_bytes(header.element_type)),
        buffers(kernel.accumulator_bytes / element_bytes) {}

  // Tells which of the elements stand in a buffer, where several buffers share them.
  struct Part {
    std::size_t first;
    std::size_t count;
  };
  Part part(std::size_t buffer) const {
    const auto first = elements * buffer / buffers;
    return {first, elements * (buffer + 1) / buffers - first};
  }

  const reduce::Kernel& kernel;
  wire::Operator op;
  std::size_t elements;
  std::size_t element_bytes;
  std::size_t buffers;  // that a sum takes: floats of less than 32 bits are added as f32
};

// Returns whether a sum of that kind, which is valid, takes one packet while it grows, and can go
// from core to core as it is. A handler may be missing.
inline bool is_summed_in_place(const wire::FlareHeader& header) {
  const auto* kernel = reduce::find_kernel(header.element_type, header.op);
  return kernel != nullptr && kernel->in_place;
}

// Holds the sum of some contributions to a block while it grows, in an aggregation buffer, or
// several. Packets are nothing but elements here.
class Accumulator {
 public:
  explicit operator bool() const { return buffers_[0] != nullptr; }

  // Makes the first packet a buffer. Returns false if there are not enough of them; then nothing
  // has changed.
  bool begin(const Shape& shape, PacketPtr& packet, WorkingMemory& memory);
  void add(const Shape& shape, const Packet& packet);
  // Adds what is in the other one, of the same shape, and empties that.
  void merge(const Shape& shape, Accumulator& other, WorkingMemory& memory);
  // Returns the sum, in the block's own format; nothing is left here.
  PacketPtr take(const Shape& shape, WorkingMemory& memory);
  void clear(WorkingMemory& memory);

  void prefetch(std::size_t bytes) const {
    if (elements_ != nullptr) {
      engine::prefetch(elements_, bytes);
    }
  }

 private:
  bool reserve(const Shape& shape, PacketPool& pool);
  void widen(const Shape& shape, Packet& packet, std::byte* scratch);
  void narrow(const Shape& shape, Packet& packet, std::byte* scratch) const;

  std::array<PacketPtr, buffers_per_sum_max> buffers_;
  const std::byte* elements_ = nullptr;  // in the first of them
};

}  // namespace tributary::flare
