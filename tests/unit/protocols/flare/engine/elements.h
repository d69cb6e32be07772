// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/pool.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// A packet that consists only of these elements.
template <typename T>
PacketPtr packet_of(PacketPool& pool, const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  auto packet = pool.allocate();
  packet->length = static_cast<std::uint32_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), packet->data());
  return packet;
}

template <typename T>
std::vector<T> elements_of(const Packet& packet) {
  std::vector<T> elements(packet.length / sizeof(T));
  const auto bytes = packet.bytes();
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(elements)).begin());
  return elements;
}

// The header of a block of so many elements, added up.
inline wire::FlareHeader block_of(wire::ElementType type, std::size_t elements) {
  wire::FlareHeader header;
  header.element_type = type;
  header.elements = static_cast<std::uint16_t>(elements);
  return header;
}

}  // namespace tributary::flare
