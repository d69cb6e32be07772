// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/frames.h"

#include <cstring>

#include "protocols/panama/engine/config.h"
#include "traffic/ranks.h"
#include "wire/crc32.h"

namespace tributary::panama {
namespace {

using wire::PanamaHeader;
using wire::PanamaKind;

constexpr std::uint8_t ttl_of_new_packets = 64;

}  // namespace

PanamaFrames::PanamaFrames(const TrafficPlan& plan, const traffic::TreePlaces& places,
                           const traffic::Stations& stations, std::uint32_t job, std::uint16_t tree)
    : group_(plan.group.value() + job * plan.trees + tree),
      collective_(plan.collective),
      key_(wire::mix_key(wire::panama_key(plan.first_job + job, tree), 1)) {
  const auto& kind = plan.kinds[job % plan.kinds.size()];
  payload_bytes_ = plan.elements * wire::element_bytes(kind.type);
  common_.job = plan.first_job + job;
  common_.tree = tree;
  common_.wnd_cap = PanamaHeader::wnd_cap_none;
  common_.flags = PanamaHeader::current_version;
  common_.run = plan.run;
  common_.element_type = kind.type;
  common_.op = kind.op;
  common_.elements = plan.elements;
  common_.contributions = std::uint16_t{1};
  common_.workers = plan.workers;
  TreeConfig config;
  config.job = plan.first_job + job;
  config.tree = tree;
  config.group = group_;
  for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
    const auto port = places.port_of(job, rank);
    engine::SwitchIdentity self;
    self.mac = stations.mac(port, 0);
    self.address = stations.address(port, 0);
    headers_.push_back(headers_of(config, self));
    address(headers_.back(), false, payload_bytes_);
  }
}

std::uint64_t PanamaFrames::fingerprint(const PanamaPosition& at) const {
  return traffic::total_tag(block_key(at), static_cast<std::uint32_t>(headers_.size()));
}

void PanamaFrames::contribution(Packet& packet, const PanamaPosition& at, std::uint32_t rank,
                                const traffic::BlockValues& values) const {
  packet.length = frame_bytes();
  auto& headers = *new (packet.data()) Headers(headers_[rank]);
  auto& header = headers.panama = common_;
  header.vid = at.vid;
  header.epoch = at.epoch;
  header.flags |= is_last(at.vid) ? PanamaHeader::fin_bit : std::uint8_t{0};
  header.rank = static_cast<std::uint16_t>(rank);
  header.fingerprint = traffic::rank_tag(block_key(at), rank);
  const auto shift = shift_of(at);
  const auto part = values.part(rank, shift);
  std::memcpy(&headers + 1, part.data(), part.size());
  header.payload_crc = values.part_crc(rank, shift);
  wire::reseal(header);
}

void PanamaFrames::answer(Packet& sum, const traffic::StationRange& root) const {
  auto& headers = *reinterpret_cast<Headers*>(sum.data());
  headers.ethernet.source = root.mac;
  headers.ipv4.source = root.address;
  headers.ipv4.ttl = ttl_of_new_packets;
  wire::finish_ipv4(headers.ipv4);
  headers.panama.kind = PanamaKind::result;
  headers.panama.flags &= static_cast<std::uint8_t>(~PanamaHeader::retransmission_bit);
  wire::reseal(headers.panama);
}

bool PanamaFrames::is_total(const PanamaHeader& header, PanamaKind kind, std::uint64_t total,
                            std::uint32_t sum_crc) const {
  return header.kind == kind && header.version() == PanamaHeader::current_version &&
         header.fin() == is_last(header.vid.value()) && header.run == common_.run &&
         header.contributions.value() == common_.workers.value() &&
         header.workers.value() == common_.workers.value() &&
         header.element_type == common_.element_type && header.op == common_.op &&
         header.elements.value() == common_.elements.value() &&
         header.rank.value() == PanamaHeader::no_rank && header.fingerprint.value() == total &&
         header.payload_crc.value() == sum_crc &&
         header.crc.value() == wire::crc32(0, wire::sealed_part(header));
}

}  // namespace tributary::panama
