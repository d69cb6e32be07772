// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/pool.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/multicast.h"

// These make Flare packets for tests: every field has a valid default, so that a test says only
// what it is about.
namespace tributary::test {

struct FlareSpec {
  wire::FlareKind kind = wire::FlareKind::contribution;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
  std::uint32_t job = 7;
  std::uint32_t run = 1;
  std::uint64_t block = 0;
  bool retransmission = false;
  bool answer = false;
  std::uint16_t contributions = 1;
  std::uint16_t workers = 4;
  std::uint16_t window = 64;
  std::uint64_t fingerprint = 0;
  wire::Ipv4Address group{239, 192, 0, 1};
  wire::Ipv4Address source{10, 0, 0, 1};
  wire::MacAddress source_mac{{0x02, 0, 0, 0, 0, 0x01}};
  std::uint8_t tos = 0;
  std::uint16_t udp_port = wire::flare_udp_port;
  std::uint8_t ttl = 64;
  PortIndex ingress = 0;
};

// Makes a complete, sealed frame, or null if the pool is empty. `payload` is whole elements.
PacketPtr make_flare(PacketPool& pool, const FlareSpec& spec, std::span<const std::byte> payload);

template <typename T>
PacketPtr make_flare(PacketPool& pool, const FlareSpec& spec, const std::vector<T>& elements) {
  return make_flare(pool, spec, std::as_bytes(std::span(elements)));
}

// This is one shard of a sparse block, the only one unless a test says otherwise.
struct FlareSparseSpec : FlareSpec {
  wire::FlareForm form = wire::FlareForm::pairs;
  std::uint64_t edition = 0;
  std::uint16_t span = 512;
  std::uint16_t first = 0;
  std::uint16_t full = wire::flare_full_min;
  std::uint8_t shard = 0;
  std::uint8_t shards = 1;
};

// Makes a frame as make_flare() does; `payload` is whole pairs, or elements.
PacketPtr make_flare_sparse(PacketPool& pool, const FlareSparseSpec& spec,
                            std::span<const std::byte> payload);

// These return where the Flare header of a frame lies; null if the frame is shorter.
wire::FlareHeader* flare_header(Packet& packet);
wire::FlareSparseHeader* flare_sparse_header(Packet& packet);

// Seals the Flare packet in a frame again after a test has tampered with it; nothing happens if its
// payload is not all there.
void reseal_flare(Packet& packet);
void reseal_flare_sparse(Packet& packet);

}  // namespace tributary::test
