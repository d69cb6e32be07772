// SPDX-License-Identifier: BSD-3-Clause
#include "support/flare_packets.h"

#include "support/group_frames.h"

namespace tributary::test {
namespace {

wire::FlareHeader header_of(const FlareSpec& spec, std::size_t payload_bytes) {
  wire::FlareHeader header;
  header.job = spec.job;
  header.run = spec.run;
  header.block = spec.block;
  header.flags = wire::FlareHeader::current_version;
  header.flags |= spec.retransmission ? wire::FlareHeader::retransmission_bit : 0;
  header.flags |= spec.answer ? wire::FlareHeader::answer_bit : 0;
  header.kind = spec.kind;
  header.element_type = spec.type;
  header.op = spec.op;
  header.elements = static_cast<std::uint16_t>(payload_bytes / wire::element_bytes(spec.type));
  header.contributions = spec.contributions;
  header.workers = spec.workers;
  header.window = spec.window;
  header.fingerprint = spec.fingerprint;
  return header;
}

}  // namespace

PacketPtr make_flare(PacketPool& pool, const FlareSpec& spec, std::span<const std::byte> payload) {
  auto header = header_of(spec, payload.size());
  wire::seal(header, payload);
  const auto key = wire::flare_key(spec.job, wire::flare_flow_of(header));
  return make_group_frame(pool, spec, wire::source_port_of(key), header, payload);
}

wire::FlareHeader* flare_header(Packet& packet) {
  return header_behind_udp<wire::FlareHeader>(packet);
}

void reseal_flare(Packet& packet) {
  reseal_behind_udp<wire::FlareHeader>(packet);
}

}  // namespace tributary::test
