// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "packet/pool.h"
#include "protocols/netreduce/wire.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"
#include "wire/roce.h"

// These build packets of RoCEv2 for tests, with the right ICRC.
namespace tributary::test {

struct RoceSpec {
  wire::Ipv4Address source;
  wire::Ipv4Address destination;
  std::uint32_t destination_qp = 0x11;
  std::uint32_t psn = 0;
  wire::RoceOpcode opcode = wire::RoceOpcode::write_only;
  std::uint32_t length = 0;  // of the message, for the RETH
  PortIndex ingress = 0;
  bool is_v6 = false;  // the addresses are then ipv6_of() those above
};
wire::IpAddress ipv6_of(wire::Ipv4Address address);

// Returns null when the pool is exhausted. Bytes of RETH and immediate that nobody looks at have
// values.
PacketPtr make_roce(PacketPool& pool, const RoceSpec& spec, wire::Bytes payload);

// Seals a packet again after a change of its bytes.
void reseal_roce(Packet& packet);
bool has_right_icrc(Packet& packet);
wire::RoceView roce_of(Packet& packet);

// Returns the opcode of a packet of a message by RDMA WRITE or by SEND.
wire::RoceOpcode roce_opcode(bool is_send, bool first, bool last, bool immediate = false);

// A GradientSpec describes the INA header of a message whose packets have `mtu` payload bytes.
struct GradientSpec {
  std::uint32_t ring = 1;
  std::uint32_t run = 0x5eed;
  std::uint32_t message = 0;
  std::uint16_t rank = 0;
  std::uint16_t world = 2;
  std::uint32_t length = 0;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
};
wire::InaHeader ina_of(const GradientSpec& spec, std::uint32_t mtu);

}  // namespace tributary::test
