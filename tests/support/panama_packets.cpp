// SPDX-License-Identifier: BSD-3-Clause
#include "support/panama_packets.h"

#include <algorithm>
#include <vector>

#include "support/group_frames.h"

namespace tributary::test {
namespace {

bool has_mask(const PanamaSpec& spec) {
  const auto& beyond = spec.present_beyond;
  return spec.present != 0 ||
         std::any_of(beyond.begin(), beyond.end(), [](std::uint64_t word) { return word != 0; });
}

// Writes as many words of the mask as there is room for.
void write_mask(const PanamaSpec& spec, std::span<std::byte> to) {
  auto words = spec.present_beyond;
  words.insert(words.begin(), spec.present);
  const auto bytes = std::as_bytes(std::span(words));
  std::copy_n(bytes.begin(), std::min(bytes.size(), to.size()), to.begin());
}

wire::PanamaHeader header_of(const PanamaSpec& spec, std::size_t elements_bytes) {
  wire::PanamaHeader header;
  header.job = spec.job;
  header.tree = spec.tree;
  header.wnd_cap = spec.wnd_cap;
  header.vid = spec.vid;
  header.flags = wire::PanamaHeader::current_version;
  header.flags |= spec.fin ? wire::PanamaHeader::fin_bit : 0;
  header.flags |= spec.retransmission ? wire::PanamaHeader::retransmission_bit : 0;
  if (has_mask(spec)) {
    header.flags |= wire::PanamaHeader::mask_bit;
  }
  header.flags |= spec.answer ? wire::PanamaHeader::answer_bit : 0;
  header.kind = spec.kind;
  header.element_type = spec.type;
  header.op = spec.op;
  header.run = spec.run;
  header.epoch = spec.epoch;
  header.elements = static_cast<std::uint16_t>(elements_bytes / wire::element_bytes(spec.type));
  header.contributions = spec.contributions;
  header.workers = spec.workers;
  header.rank = spec.rank;
  header.fingerprint = spec.fingerprint;
  return header;
}

}  // namespace

PacketPtr make_panama(PacketPool& pool, const PanamaSpec& spec,
                      std::span<const std::byte> elements) {
  auto header = header_of(spec, elements.size());
  std::vector<std::byte> payload(header.payload_bytes());
  std::copy(elements.begin(), elements.end(), payload.begin());
  write_mask(spec, std::span(payload).last(header.mask_bytes()));
  wire::seal(header, payload);
  const auto source_port = wire::source_port_of(wire::panama_key(spec.job, spec.tree));
  return make_group_frame(pool, spec, source_port, header, payload);
}

wire::PanamaHeader* panama_header(Packet& packet) {
  return header_behind_udp<wire::PanamaHeader>(packet);
}

void reseal_panama(Packet& packet) {
  reseal_behind_udp<wire::PanamaHeader>(
      packet, [](const wire::PanamaHeader& header) { return header.payload_bytes(); });
}

}  // namespace tributary::test
