// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_packets.h"

#include "host/siphash.h"

namespace tributary::host {
namespace {

constexpr std::uint16_t whole_contribution = 65535;

}  // namespace

std::uint64_t flare_sparse_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank,
                               std::uint16_t number) {
  const auto high = static_cast<std::uint32_t>(block >> 32) & 0xffffu;
  return siphash(key, std::uint32_t{number} << 16 | high, static_cast<std::uint32_t>(block), rank);
}

std::uint64_t flare_shard_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank,
                              std::uint32_t shard, std::uint32_t shards) {
  const auto drawn = [&](std::uint32_t of) {
    return flare_sparse_tag(key, block, rank, static_cast<std::uint16_t>(of + 1));
  };
  if (shard + 1 != shards) {
    return drawn(shard);
  }
  auto rest = flare_sparse_tag(key, block, rank, whole_contribution);
  for (std::uint32_t other = 0; other < shard; ++other) {
    rest -= drawn(other);
  }
  return rest;
}

std::uint64_t flare_sparse_total_tag(const JobKey& key, std::uint64_t block,
                                     std::uint32_t world_size) {
  std::uint64_t total = 0;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    total += flare_sparse_tag(key, block, rank, whole_contribution);
  }
  return total;
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
