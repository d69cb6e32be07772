// SPDX-License-Identifier: BSD-3-Clause
#include "engines/netreduce/gradient.h"

#include <cassert>
#include <cstring>

#include "reduce/kernel.h"
#include "wire/netreduce.h"

namespace tributary::netreduce {
namespace {

std::uint32_t icrc_of(const RocePacket& packet) {
  const auto* transport = reinterpret_cast<const std::byte*>(packet.roce.bth);
  return wire::icrc_of(std::as_bytes(std::span(packet.ip, 1)), *packet.udp,
                       {transport, static_cast<std::size_t>(packet.roce.icrc - transport)});
}

}  // namespace

RocePacket roce_of(const engine::Frame& frame) {
  if (frame.udp == nullptr || frame.ipv4->header_bytes() != sizeof(wire::Ipv4Header)) {
    return {};
  }
  const auto roce = wire::parse_roce(frame.payload);
  if (roce.bth == nullptr) {
    return {};
  }
  return {frame.ipv4, frame.udp, roce};
}

bool has_right_icrc(const RocePacket& packet) {
  return icrc_of(packet) == wire::load_icrc(packet.roce.icrc);
}

bool fits(const RocePacket& packet, const Message& message, std::uint32_t offset,
          std::uint32_t mtu) {
  const auto position = packet.roce.position();
  return wire::begins_message(position) == (offset == 0) &&
         wire::ends_message(position) == (offset + 1 == message.packets) &&
         packet.roce.bth->pad() == 0 &&
         packet.roce.payload.size() == wire::ina_payload_bytes(message.length, mtu, offset);
}

Shape shape_of(const RocePacket& packet, const Message& message, std::uint32_t offset) {
  return {message.element_type, message.op,
          offset == 0 ? static_cast<std::uint16_t>(sizeof(wire::InaHeader)) : std::uint16_t{0},
          static_cast<std::uint16_t>(packet.roce.payload.size())};
}

void rewrite(const RocePacket& packet, const Shape& shape, const std::byte* result) {
  assert(packet.roce.payload.size() == shape.payload_bytes);
  std::memcpy(packet.roce.payload.data() + shape.header_bytes, result + shape.header_bytes,
              shape.payload_bytes - shape.header_bytes);
  packet.udp->checksum = std::uint16_t{0};  // "none", as nearly all senders have it
  wire::store_icrc(packet.roce.icrc, icrc_of(packet));
}

void reduce(std::span<const PacketPtr> slots, const Shape& shape, std::byte* result,
            std::span<std::byte> wide) {
  const auto& kernel = reduce::kernel(shape.element_type, shape.op);
  const auto elements = (shape.payload_bytes - shape.header_bytes - wire::fingerprint_bytes) /
                        wire::element_bytes(shape.element_type);
  assert(kernel.in_place || elements * kernel.accumulator_bytes <= wide.size());
  void* accumulator = kernel.in_place ? result + shape.header_bytes : wide.data();
  std::uint64_t fingerprint = 0;
  for (const auto& slot : slots) {
    const auto payload = roce_of(engine::parse_frame(*slot)).roce.payload;
    const auto* from = payload.data() + shape.header_bytes;
    if (&slot == &slots.front()) {
      kernel.load(accumulator, from, elements);
    } else {
      kernel.accumulate(accumulator, from, elements);
    }
    fingerprint += wire::load_fingerprint(payload);
  }
  if (!kernel.in_place) {
    kernel.store(result + shape.header_bytes, accumulator, elements);
  }
  wire::store_fingerprint({result, shape.payload_bytes}, fingerprint);
}

}  // namespace tributary::netreduce
