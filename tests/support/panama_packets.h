// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/pool.h"
#include "protocols/panama/wire.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

// These make PANAMA packets for tests: every field has a valid default, so that a test says only
// what it is about.
namespace tributary::test {

struct PanamaSpec {
  wire::PanamaKind kind = wire::PanamaKind::aggregation;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
  std::uint32_t job = 7;
  std::uint16_t tree = 0;
  std::uint32_t run = 0;
  std::uint32_t epoch = 0;
  std::uint32_t vid = 0;
  bool fin = false;
  bool retransmission = false;
  bool answer = false;
  std::uint16_t contributions = 1;
  std::uint16_t workers = 4;
  std::uint16_t wnd_cap = wire::PanamaHeader::wnd_cap_none;
  std::uint64_t fingerprint = 0;
  std::uint16_t rank = 0;
  std::uint64_t present = 0;  // the ranks in its mask, of the first 64
  // Those of the ranks beyond, a word for every 64. It has no mask if all words are 0.
  std::vector<std::uint64_t> present_beyond{};
  wire::Ipv4Address group{239, 192, 0, 1};
  wire::Ipv4Address source{10, 0, 0, 1};
  wire::MacAddress source_mac{{0x02, 0, 0, 0, 0, 0x01}};
  std::uint8_t tos = (wire::panama_dscp << 2) | wire::ecn::ect0;
  std::uint16_t udp_port = wire::panama_udp_port;
  std::uint8_t ttl = 64;
  PortIndex ingress = 0;
};

// Makes a complete, sealed frame, or null if the pool is empty. `elements` are whole ones.
PacketPtr make_panama(PacketPool& pool, const PanamaSpec& spec,
                      std::span<const std::byte> elements);

template <typename T>
PacketPtr make_panama(PacketPool& pool, const PanamaSpec& spec, const std::vector<T>& elements) {
  return make_panama(pool, spec, std::as_bytes(std::span(elements)));
}

// Returns where the PANAMA header of a frame lies; null if the frame is shorter.
wire::PanamaHeader* panama_header(Packet& packet);

// Seals the PANAMA packet in a frame again after a test has tampered with it; nothing happens if
// its payload is not all there.
void reseal_panama(Packet& packet);

}  // namespace tributary::test
