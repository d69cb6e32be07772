// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/frame.h"
#include "support/same_frame.h"

namespace {

using tributary::Packet;

// Whether `size` bytes at `part` lie inside the frame.
bool inside(const Packet& packet, const void* part, std::size_t size) {
  const auto* at = static_cast<const std::byte*>(part);
  return at >= packet.data() && at + size <= packet.data() + packet.length;
}

}  // namespace

// Any bytes as a frame: what parse_frame says is there must be there, in the order of the layers,
// and what is noted of it must say the same.
// The buffer ends with the frame, so that the address sanitizer sees the first byte too many.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  std::vector<std::byte> buffer(bytes, bytes + size);
  Packet packet{};
  packet.buffer = buffer.data();
  packet.capacity = static_cast<std::uint32_t>(size);
  packet.length = static_cast<std::uint32_t>(size);

  const auto frame = tributary::engine::parse_frame(packet);
  assert((frame.ethernet != nullptr) == (size >= sizeof(tributary::wire::EthernetHeader)));
  assert(frame.ipv4 == nullptr || frame.ethernet != nullptr);
  assert(frame.udp == nullptr || frame.ipv4 != nullptr);
  assert(frame.ipv4 == nullptr || inside(packet, frame.ipv4, frame.ipv4->header_bytes()));
  assert(frame.udp == nullptr || inside(packet, frame.udp, sizeof *frame.udp));
  assert(frame.payload.empty() || inside(packet, frame.payload.data(), frame.payload.size()));
  if (frame.ethernet != nullptr) {
    tributary::engine::note(packet, frame, 1);
    assert(tributary::test::is_same(tributary::engine::noted_frame(packet), frame));
    assert(tributary::engine::noted_claim(packet) == 1);
  }
  return 0;
}
