// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/sparse_frames.h"

#include <algorithm>
#include <new>

#include "engine/group_headers.h"
#include "traffic/ranks.h"
#include "wire/key.h"

namespace tributary::flare {
namespace {

using wire::FlareKind;
using wire::FlareSparseHeader;

constexpr std::uint8_t ttl_of_shards = wire::Ipv4Header{}.ttl;

wire::FlareSparseHeader common_header(const traffic::TreePlan& plan, std::uint32_t job,
                                      const SparseValues& values) {
  FlareSparseHeader header;
  header.job = plan.first_job + job;
  header.flags = FlareSparseHeader::sparse_bit | FlareSparseHeader::current_version;
  header.element_type = values.type();
  header.op = wire::Operator::sum;
  header.workers = plan.workers;
  header.window = static_cast<std::uint16_t>(plan.window);
  header.span = values.span();
  header.full = static_cast<std::uint16_t>(values.shape().full);
  return header;
}

engine::GroupHeaders headers_from(wire::MacAddress mac, wire::Ipv4Address address,
                                  wire::Ipv4Address group) {
  engine::SwitchIdentity self;
  self.mac = mac;
  self.address = address;
  return engine::group_headers(group, self, wire::flare_udp_port);
}

}  // namespace

FlareSparseFrames::FlareSparseFrames(const traffic::TreePlan& plan,
                                     const traffic::TreePlaces& places,
                                     const traffic::Stations& stations, std::uint32_t job,
                                     const SparseValues& values)
    : values_(values),
      common_(common_header(plan, job, values)),
      key_(wire::mix_key(plan.first_job + job, 2)),
      group_(plan.group.value() + job) {
  for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
    const auto port = places.port_of(job, rank);
    headers_.push_back(headers_from(stations.mac(port, 0), stations.address(port, 0), group_));
  }
}

std::uint64_t FlareSparseFrames::block_key(const FlarePosition& at) const {
  return wire::mix_key(wire::mix_key(key_, at.run), at.block);
}

std::uint64_t FlareSparseFrames::fingerprint(const FlarePosition& at) const {
  return traffic::total_tag(block_key(at), static_cast<std::uint32_t>(headers_.size()));
}

// The last shard has what the others leave of the rank's own.
std::uint64_t FlareSparseFrames::tag(const FlarePosition& at, std::uint32_t rank,
                                     std::uint32_t shard) const {
  const auto whole = traffic::rank_tag(block_key(at), rank);
  const auto drawn = [whole](std::uint32_t number) { return wire::mix_key(whole, number + 1); };
  if (shard + 1 != values_.shards()) {
    return drawn(shard);
  }
  auto rest = whole;
  for (std::uint32_t other = 0; other < shard; ++other) {
    rest -= drawn(other);
  }
  return rest;
}

void FlareSparseFrames::contribution(Packet& packet, const FlarePosition& at, std::uint32_t rank,
                                     std::uint32_t shard, std::uint8_t flags) const {
  const auto& shards = values_.contribution(rank, variant_of(at));
  const bool is_last = shard + 1 == shards.size();
  auto header = common_;
  header.run = at.run;
  header.block = at.block;
  header.flags |= flags;
  header.kind = FlareKind::contribution;
  header.contributions = std::uint16_t{is_last};
  header.fingerprint = tag(at, rank, shard);
  header.shard = static_cast<std::uint8_t>(shard);
  header.shards = static_cast<std::uint8_t>(is_last ? shards.size() : 0);
  write(packet, headers_[rank], header, shards[shard]);
}

// There is one edition for ever: it is the same result whenever it is sent.
void FlareSparseFrames::result(Packet& packet, const FlarePosition& at, std::uint32_t shard,
                               const traffic::StationRange& root) const {
  const auto& shards = values_.result(variant_of(at));
  auto header = common_;
  header.run = at.run;
  header.block = at.block;
  header.kind = FlareKind::result;
  header.contributions = common_.workers;
  header.fingerprint = fingerprint(at);
  header.edition = block_key(at) | 1;
  header.shard = static_cast<std::uint8_t>(shard);
  header.shards = static_cast<std::uint8_t>(shards.size());
  write(packet, headers_from(root.mac, root.address, group_), header, shards[shard]);
}

void FlareSparseFrames::write(Packet& packet, const engine::GroupHeaders& usual,
                              FlareSparseHeader& header, const SparseValues::Shard& shard) const {
  header.form = shard.form;
  header.elements = shard.elements;
  header.first = shard.first;
  header.payload_crc = shard.payload_crc;
  wire::reseal(header);
  auto* const headers = new (packet.data()) SparseHeaders(complete(usual, header, ttl_of_shards));
  std::copy(shard.payload.begin(), shard.payload.end(), reinterpret_cast<std::byte*>(headers + 1));
  packet.length = static_cast<std::uint32_t>(sizeof(SparseHeaders) + shard.payload.size());
}

bool FlareSparseFrames::is_like(const FlareSparseHeader& header, std::uint32_t run) const {
  return header.run.value() == run && header.workers == common_.workers &&
         header.window == common_.window && header.element_type == common_.element_type &&
         header.span == common_.span && header.full == common_.full;
}

}  // namespace tributary::flare
