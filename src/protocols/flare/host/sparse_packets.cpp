// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_packets.h"

#include "host/siphash.h"
#include "host/tags.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t whole_contribution = 65535;

// Returns the number of a block in its call, or of one of its shards.
std::uint64_t sparse_packet_number(std::uint64_t block, std::uint32_t number) {
  constexpr auto low_six_bytes = (std::uint64_t{1} << 48) - 1;
  return std::uint64_t{number} << 48 | (block & low_six_bytes);
}

}  // namespace

std::uint64_t flare_sparse_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank) {
  return tag_of(key, sparse_packet_number(block, whole_contribution), rank);
}

std::uint64_t flare_shard_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank,
                              std::uint32_t shard, std::uint32_t shards) {
  const auto drawn = [&](std::uint32_t of) {
    return siphash(key, sparse_packet_number(block, of + 1), rank);
  };
  if (shard + 1 != shards) {
    return drawn(shard);
  }
  auto rest = flare_sparse_tag(key, block, rank);
  for (std::uint32_t other = 0; other < shard; ++other) {
    rest -= drawn(other);
  }
  return rest;
}

std::uint64_t flare_sparse_total_tag(const JobKey& key, std::uint64_t block,
                                     std::uint32_t world_size) {
  return tags_of_all(key, sparse_packet_number(block, whole_contribution), world_size);
}

wire::FlareSparseHeader sparse_contribution_header(const Job& job, const FlarePlan& plan,
                                                   const FlareSparseBlocks& blocks,
                                                   std::uint32_t index) {
  wire::FlareSparseHeader header;
  header.job = job.id;
  header.run = blocks.run;
  header.block = blocks.first + index;
  header.flags = wire::FlareSparseHeader::current_version | wire::FlareSparseHeader::sparse_bit;
  header.kind = wire::FlareKind::contribution;
  header.element_type = blocks.type;
  header.op = wire::Operator::sum;
  header.workers = static_cast<std::uint16_t>(job.world_size());
  header.window = static_cast<std::uint16_t>(plan.sparse_window);
  header.edition = 0;
  header.span = static_cast<std::uint16_t>(blocks.range(index).count);
  header.full = static_cast<std::uint16_t>(blocks.full);
  return header;
}

}  // namespace tributary::host
