// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/canary/wire.h"

namespace {

using namespace tributary;

// Bits of the first byte of an input.
constexpr std::uint8_t over_ethernet = 1;
constexpr std::uint8_t sealed = 2;  // the CRC is made right, as a hostile host would
constexpr std::uint8_t fitted = 4;  // and `elements` to fit the payload

void prepare(std::vector<std::byte>& bytes, std::uint8_t mode) {
  auto* header = wire::MutableCursor(bytes).take<wire::CanaryHeader>();
  if (header == nullptr) {
    return;
  }
  if ((mode & fitted) != 0 && wire::is_valid(header->element_type, header->op)) {
    const auto payload_bytes = bytes.size() - sizeof *header;
    const auto per_element = wire::element_bytes(header->element_type);
    header->elements = static_cast<std::uint16_t>(payload_bytes / per_element);
    bytes.resize(sizeof *header + payload_bytes / per_element * per_element);
    header = reinterpret_cast<wire::CanaryHeader*>(bytes.data());
  }
  if ((mode & sealed) != 0) {
    wire::seal(*header, wire::Bytes(bytes).subspan(sizeof *header));
  }
}

void check_accepted(const wire::CanaryView& view, wire::Bytes bytes) {
  const auto& header = *view.header;
  assert(header.version() == wire::CanaryHeader::current_version);
  assert(wire::is_valid(header.element_type, header.op));
  assert(view.payload.size() == header.elements.value() * wire::element_bytes(header.element_type));
  assert(bytes.size() >= sizeof header + view.payload.size());
  assert(wire::peek_canary_key(bytes) == header.key());
  assert(header.counter.value() <= header.hosts.value() && header.hosts.value() >= 2);
  auto resealed = header;
  wire::seal(resealed, view.payload);
  assert(resealed.crc == header.crc);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::uint8_t mode = data[0];
  const auto* from = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> bytes(from + 1, from + size);
  prepare(bytes, mode);
  const auto encapsulation =
      (mode & over_ethernet) != 0 ? wire::Encapsulation::ethernet : wire::Encapsulation::udp;
  const auto view = wire::parse_canary(bytes, encapsulation);
  if (view.error == wire::CanaryError::none) {
    check_accepted(view, bytes);
  } else {
    assert(view.payload.empty());
  }
  assert((view.header != nullptr) == (bytes.size() >= sizeof(wire::CanaryHeader)));
  assert(!wire::name(view.error).empty());
  return 0;
}
