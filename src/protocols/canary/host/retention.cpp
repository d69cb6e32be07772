// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/retention.h"

#include <cstring>

namespace tributary::host {

void Retention::keep(const Job& job, const Blocks& blocks,
                     const std::vector<std::uint8_t>& attempts) {
  const auto led = blocks.led_count(job.rank);
  active_ = blocks.has_completion() ? blocks.leader(blocks.count() - 1) == job.rank : led != 0;
  if (!active_) {
    return;
  }
  rank_ = job.rank;
  blocks_ = blocks;
  attempts_ = attempts;
  if (blocks.has_completion() || !blocks.data_goes_down()) {
    return;
  }
  if (!copy_) {
    copy_ = std::make_unique_for_overwrite<std::byte[]>(capacity_);
  }
  std::size_t offset = 0;
  for (std::uint32_t i = 0; i < led; ++i) {
    const auto data = blocks.down(blocks.led_block(job.rank, i));
    if (!data.empty()) {
      std::memcpy(copy_.get() + offset, data.data(), data.size());
    }
    offset += data.size();
  }
}

std::optional<Retention::Result> Retention::find(std::uint32_t sequence) const {
  const auto block = blocks_.block_of_sequence(sequence);
  if (!active_ || block >= blocks_.count() || blocks_.leader(block) != rank_ ||
      (blocks_.has_completion() && !blocks_.is_completion(block))) {
    return std::nullopt;
  }
  const auto index = blocks_.led_index(block);
  Result result{blocks_.id(block, attempts_[index]), {}};
  if (const auto bytes = blocks_.bytes_down(block); bytes != 0) {
    // All but the last block are of one size.
    result.payload = {copy_.get() + std::size_t{index} * blocks_.block_bytes(), bytes};
  }
  return result;
}

}  // namespace tributary::host
