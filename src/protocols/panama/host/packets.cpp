// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/packets.h"

#include "host/siphash.h"
#include "host/tags.h"

namespace tributary::host {

namespace {

// Returns the number of a packet in its call.
std::uint64_t panama_packet_number(const PanamaPlace& place) {
  return std::uint64_t{place.tree} << 32 | place.vid;
}

}  // namespace

std::uint64_t panama_tag(const JobKey& key, const PanamaPlace& place, std::uint32_t rank) {
  return tag_of(key, panama_packet_number(place), rank);
}

std::uint64_t panama_tags_before(const JobKey& key, const PanamaPlace& place, std::uint32_t rank) {
  return tags_before(key, panama_packet_number(place), rank);
}

std::uint32_t panama_run(const JobKey& key) {
  constexpr std::uint32_t of_no_packet = 0xffffffff;
  return static_cast<std::uint32_t>(siphash(key, of_no_packet, of_no_packet, of_no_packet));
}

std::uint64_t panama_total_tag(const JobKey& key, const PanamaPlace& place,
                               std::uint32_t world_size) {
  return tags_of_all(key, panama_packet_number(place), world_size);
}

wire::PanamaHeader contribution_header(const Job& job, const JobKey& key,
                                       const PanamaChunks& chunks, const PanamaPlace& place) {
  wire::PanamaHeader header;
  header.job = job.id;
  header.tree = static_cast<std::uint16_t>(place.tree);
  header.wnd_cap = wire::PanamaHeader::wnd_cap_none;
  header.vid = place.vid;
  header.flags = wire::PanamaHeader::current_version;
  if (place.vid + 1 == chunks.count_in(place.tree)) {
    header.flags |= wire::PanamaHeader::fin_bit;
  }
  header.kind = wire::PanamaKind::aggregation;
  header.element_type = chunks.type();
  header.op = chunks.op();
  header.run = place.run;
  header.epoch = place.epoch;
  header.elements = chunks.elements(chunks.number(place.tree, place.vid));
  header.contributions = 1;
  header.workers = static_cast<std::uint16_t>(job.world_size());
  header.rank = static_cast<std::uint16_t>(job.rank);
  header.fingerprint = panama_tag(key, place, job.rank);
  return header;
}

}  // namespace tributary::host
