// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/packets.h"

#include "host/tags.h"
#include "reduce/handlers/mark.h"
#include "wire/key.h"

namespace tributary::host {

std::uint64_t flare_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank) {
  return tag_of(key, block, rank);
}

std::uint64_t flare_total_tag(const JobKey& key, std::uint64_t block, std::uint32_t world_size,
                              wire::Operator op) {
  return tags_of_all(key, block, world_size) + (world_size - 1) * reduce::mark_of(op);
}

std::uint64_t flare_timer_seed(const Job& job, bool sparse) {
  return wire::mix_key(wire::mix_key(run_of(job.key), job.rank), sparse ? 1 : 0);
}

wire::FlareHeader contribution_header(const Job& job, const FlarePlan& plan,
                                      const FlareBlocks& blocks, std::uint32_t index) {
  const auto block = blocks.first + index;
  wire::FlareHeader header;
  header.job = job.id;
  header.run = blocks.run;
  header.block = block;
  header.flags = wire::FlareHeader::current_version;
  header.kind = wire::FlareKind::contribution;
  header.element_type = blocks.chunks.type();
  header.op = blocks.chunks.op();
  header.elements = blocks.chunks.elements(index);
  header.contributions = 1;
  header.workers = static_cast<std::uint16_t>(job.world_size());
  header.window = static_cast<std::uint16_t>(plan.window);
  header.fingerprint = flare_tag(blocks.key, block, job.rank);
  return header;
}

}  // namespace tributary::host
