// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/frames.h"

#include <cstring>
#include <new>

#include "engine/group_headers.h"
#include "protocols/flare/engine/config.h"
#include "traffic/ranks.h"
#include "wire/checksum.h"
#include "wire/crc32.h"
#include "wire/ipv4.h"

namespace tributary::flare {
namespace {

using wire::FlareHeader;
using wire::FlareKind;

constexpr std::uint8_t ttl_of_new_packets = 64;

}  // namespace

FlareFrames::FlareFrames(const traffic::TreePlan& plan, const traffic::TreePlaces& places,
                         const traffic::Stations& stations, std::uint32_t job)
    : key_(wire::mix_key(plan.first_job + job, 1)) {
  const auto& kind = plan.kinds[job % plan.kinds.size()];
  payload_bytes_ = plan.elements * wire::element_bytes(kind.type);
  common_.job = plan.first_job + job;
  common_.flags = FlareHeader::current_version;
  common_.element_type = kind.type;
  common_.op = kind.op;
  common_.elements = plan.elements;
  common_.contributions = std::uint16_t{1};
  common_.workers = plan.workers;
  common_.window = static_cast<std::uint16_t>(plan.window);
  TreeConfig config;
  config.group = wire::Ipv4Address(plan.group.value() + job);
  for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
    const auto port = places.port_of(job, rank);
    engine::SwitchIdentity self;
    self.mac = stations.mac(port, 0);
    self.address = stations.address(port, 0);
    headers_.push_back({headers_of(config, self), FlareHeader{}});
    engine::finish_headers(headers_.back(), sizeof(FlareHeader) + payload_bytes_);
  }
}

std::uint64_t FlareFrames::block_key(const FlarePosition& at) const {
  return wire::mix_key(wire::mix_key(key_, at.run), at.block);
}

std::uint64_t FlareFrames::fingerprint(const FlarePosition& at) const {
  return traffic::total_tag(block_key(at), static_cast<std::uint32_t>(headers_.size()));
}

void FlareFrames::contribution(Packet& packet, const FlarePosition& at, std::uint32_t rank,
                               std::uint8_t flags, const traffic::BlockValues& values) const {
  packet.length = frame_bytes();
  auto& headers = *new (packet.data()) Headers(headers_[rank]);
  const auto flow = wire::flare_flow_of(at.block, common_.window.value());
  headers.udp.source_port = wire::source_port_of(wire::flare_key(common_.job.value(), flow));
  auto& header = headers.flare = common_;
  header.run = at.run;
  header.block = at.block;
  header.flags |= flags;
  header.fingerprint = traffic::rank_tag(block_key(at), rank);
  const auto shift = shift_of(at);
  const auto part = values.part(rank, shift);
  std::memcpy(&headers + 1, part.data(), part.size());
  header.payload_crc = values.part_crc(rank, shift);
  wire::reseal(header);
}

void FlareFrames::answer(Packet& sum, const traffic::StationRange& root) const {
  auto& headers = *reinterpret_cast<Headers*>(sum.data());
  headers.ethernet.source = root.mac;
  headers.ipv4.source = root.address;
  headers.ipv4.ttl = ttl_of_new_packets;
  wire::finish_ipv4(headers.ipv4);
  headers.flare.kind = FlareKind::result;
  headers.flare.flags = FlareHeader::current_version;
  wire::reseal(headers.flare);
}

bool FlareFrames::is_total(const FlareHeader& header, FlareKind kind, const FlarePosition& at,
                           std::uint32_t sum_crc) const {
  return header.kind == kind && header.version() == FlareHeader::current_version &&
         header.run.value() == at.run && header.contributions.value() == common_.workers.value() &&
         header.workers.value() == common_.workers.value() &&
         header.window.value() == common_.window.value() &&
         header.element_type == common_.element_type && header.op == common_.op &&
         header.elements.value() == common_.elements.value() &&
         header.fingerprint.value() == fingerprint(at) && header.payload_crc.value() == sum_crc &&
         header.crc.value() == wire::crc32(0, wire::sealed_part(header));
}

}  // namespace tributary::flare
