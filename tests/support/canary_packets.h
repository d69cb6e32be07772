// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "packet/pool.h"
#include "protocols/canary/wire.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

// These make Canary packets for tests: every field has a valid default, so that a test says only
// what it is about.
namespace tributary::test {

struct CanarySpec {
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;
  wire::CanaryKind kind = wire::CanaryKind::contribution;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
  std::uint32_t job = 7;
  std::uint32_t id = 1;
  std::uint16_t counter = 1;
  std::uint16_t hosts = 4;
  bool bypass = false;
  bool congested = false;  // says the header
  std::uint8_t tos = 0;    // says IP
  std::uint64_t fingerprint = 0;
  std::uint16_t rank = 0;
  wire::Ipv4Address destination{10, 0, 0, 99};  // the leader, or whom a result is for
  std::uint16_t udp_port = 17000;               // of the destination
  std::uint16_t child_port = 17001;
  wire::Ipv4Address child_address{10, 0, 0, 1};
  wire::Ipv4Address ip_source;  // unspecified: child_address
  wire::MacAddress child_mac;   // restoration
  std::uint32_t children = 0;   // restoration
  std::uint8_t shard = 0;       // restoration
  std::uint16_t switch_address = 0;
  wire::Ipv4Address switch_ipv4;
  wire::MacAddress source_mac{{0x02, 0, 0, 0, 0, 0x01}};
  wire::MacAddress destination_mac{{0x02, 0, 0, 0, 0, 0x99}};
  std::uint8_t ttl = 63;
  PortIndex ingress = 0;
};

// Returns the counter that a packet of this kind may carry; if there are several, the lowest.
std::uint16_t valid_counter(wire::CanaryKind kind, std::uint16_t hosts);
// Returns whether packets of this kind have nothing to tell but their header.
bool is_without_payload(wire::CanaryKind kind);

// Makes a complete, sealed frame, or null if the pool is empty. `payload` is whole elements.
PacketPtr make_canary(PacketPool& pool, const CanarySpec& spec, std::span<const std::byte> payload);

template <typename T>
PacketPtr make_canary(PacketPool& pool, const CanarySpec& spec, const std::vector<T>& elements) {
  return make_canary(pool, spec, std::as_bytes(std::span(elements)));
}

// Returns where the Canary header of a frame made by make_canary (or rewritten by an engine) lies;
// null if the frame is shorter.
wire::CanaryHeader* canary_header(Packet& packet);

// Seals the Canary packet in a frame again after a test has tampered with it; nothing happens if
// its payload is not all there.
void reseal(Packet& packet);

}  // namespace tributary::test
