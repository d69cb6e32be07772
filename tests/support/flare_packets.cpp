// SPDX-License-Identifier: BSD-3-Clause
#include "support/flare_packets.h"

#include "support/group_frames.h"

namespace tributary::test {
namespace {

// Fills in what both headers have in common.
template <typename Header>
Header begin_header(const FlareSpec& spec, std::size_t elements) {
  Header header;
  header.job = spec.job;
  header.run = spec.run;
  header.block = spec.block;
  header.flags = Header::current_version;
  header.flags |= spec.retransmission ? wire::FlareHeader::retransmission_bit : 0;
  header.flags |= spec.answer ? wire::FlareHeader::answer_bit : 0;
  header.kind = spec.kind;
  header.element_type = spec.type;
  header.op = spec.op;
  header.elements = static_cast<std::uint16_t>(elements);
  header.contributions = spec.contributions;
  header.workers = spec.workers;
  header.window = spec.window;
  header.fingerprint = spec.fingerprint;
  return header;
}

wire::FlareSparseHeader sparse_header_of(const FlareSparseSpec& spec, std::size_t payload_bytes) {
  const wire::FlareSparseShape shape{wire::element_bytes(spec.type), spec.full};
  const auto each = spec.form == wire::FlareForm::pairs ? shape.pair_bytes() : shape.element_bytes;
  auto header = begin_header<wire::FlareSparseHeader>(spec, payload_bytes / each);
  header.flags |= wire::FlareSparseHeader::sparse_bit;
  header.edition = spec.edition;
  header.span = spec.span;
  header.first = spec.first;
  header.full = spec.full;
  header.shard = spec.shard;
  header.shards = spec.shards;
  header.form = spec.form;
  return header;
}

}  // namespace

PacketPtr make_flare(PacketPool& pool, const FlareSpec& spec, std::span<const std::byte> payload) {
  auto header =
      begin_header<wire::FlareHeader>(spec, payload.size() / wire::element_bytes(spec.type));
  wire::seal(header, payload);
  const auto key = wire::flare_key(spec.job, wire::flare_flow_of(header));
  return make_group_frame(pool, spec, wire::source_port_of(key), header, payload);
}

PacketPtr make_flare_sparse(PacketPool& pool, const FlareSparseSpec& spec,
                            std::span<const std::byte> payload) {
  auto header = sparse_header_of(spec, payload.size());
  wire::seal(header, payload);
  const auto key = wire::flare_key(spec.job, wire::flare_flow_of(spec.block, spec.window));
  return make_group_frame(pool, spec, wire::source_port_of(key), header, payload);
}

wire::FlareHeader* flare_header(Packet& packet) {
  return header_behind_udp<wire::FlareHeader>(packet);
}

wire::FlareSparseHeader* flare_sparse_header(Packet& packet) {
  return header_behind_udp<wire::FlareSparseHeader>(packet);
}

void reseal_flare(Packet& packet) {
  reseal_behind_udp<wire::FlareHeader>(packet);
}

void reseal_flare_sparse(Packet& packet) {
  auto* const header = flare_sparse_header(packet);
  if (header == nullptr || !wire::is_flare_sparse_type(header->element_type)) {
    return;
  }
  const auto bytes = wire::flare_payload_bytes(*header);
  const auto payload = packet.bytes().subspan(headers_before_protocol + sizeof *header);
  if (payload.size() >= bytes) {
    wire::seal(*header, payload.first(bytes));
  }
}

}  // namespace tributary::test
