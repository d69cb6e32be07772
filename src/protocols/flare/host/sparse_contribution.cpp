// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_contribution.h"

#include <algorithm>
#include <cstring>

#include "host/element_types.h"

namespace tributary::host {

SparseContributions::SparseContributions(std::uint32_t window, std::size_t full)
    : full_(full),
      slots_(window),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(window * wire::flare_runs_max * full)) {}

void SparseContributions::begin(const SparseBuffers& buffers, const FlareSparseBlocks& blocks) {
  buffers_ = buffers;
  blocks_ = blocks;
}

void SparseContributions::make(std::uint32_t index) {
  const auto range = blocks_.range(index);
  const auto& all = buffers_.indices;
  const auto from = std::lower_bound(all.begin(), all.end(), range.first);
  const auto to = std::lower_bound(from, all.end(), range.first + range.count);
  const auto begin = static_cast<std::size_t>(from - all.begin());
  const auto end = static_cast<std::size_t>(to - all.begin());
  if (blocks_.shape().prefers_pairs(end - begin, range.count)) {
    slots_[slot_of(index)] = {wire::FlareForm::pairs, end - begin};
    write_pairs(index, begin, end);
  } else {
    slots_[slot_of(index)] = {wire::FlareForm::run, range.count};
    write_runs(index, begin, end);
  }
}

void SparseContributions::write_pairs(std::uint32_t index, std::size_t begin, std::size_t end) {
  const auto first = blocks_.range(index).first;
  const auto per_shard = elements_per_shard(wire::FlareForm::pairs);
  with_sparse_type(blocks_.type, [&]<typename T>(T) {
    auto* shard = shards_of(index);
    for (auto at = begin; at < end; shard += full_) {
      auto* pair = shard;
      for (const auto last = std::min(end, at + per_shard); at < last; ++at) {
        const auto offset = static_cast<std::uint16_t>(buffers_.indices[at] - first);
        std::memcpy(pair, &offset, sizeof offset);
        std::memcpy(pair + sizeof offset, buffers_.values + at * sizeof(T), sizeof(T));
        pair += sizeof offset + sizeof(T);
      }
    }
  });
}

void SparseContributions::write_runs(std::uint32_t index, std::size_t begin, std::size_t end) {
  const auto range = blocks_.range(index);
  const auto per_shard = elements_per_shard(wire::FlareForm::run);
  auto* const shard = shards_of(index);
  std::memset(shard, 0, shards(index) * full_);
  with_sparse_type(blocks_.type, [&]<typename T>(T) {
    for (auto at = begin; at < end; ++at) {
      const auto offset = buffers_.indices[at] - range.first;
      std::memcpy(shard + offset / per_shard * full_ + offset % per_shard * sizeof(T),
                  buffers_.values + at * sizeof(T), sizeof(T));
    }
  });
}

std::size_t SparseContributions::elements_per_shard(wire::FlareForm form) const {
  const auto shape = blocks_.shape();
  return form == wire::FlareForm::pairs ? shape.pairs_per_shard() : shape.elements_per_run();
}

std::uint32_t SparseContributions::shards(std::uint32_t index) const {
  const auto& slot = slots_[slot_of(index)];
  const auto shape = blocks_.shape();
  return static_cast<std::uint32_t>(slot.form == wire::FlareForm::pairs
                                        ? shape.shards_of_pairs(slot.elements)
                                        : shape.runs(slot.elements));
}

SparseContributions::Shard SparseContributions::shard(std::uint32_t index,
                                                      std::uint32_t number) const {
  const auto& slot = slots_[slot_of(index)];
  const auto shape = blocks_.shape();
  const bool is_run = slot.form == wire::FlareForm::run;
  const auto before = number * elements_per_shard(slot.form);
  const auto elements = std::min(elements_per_shard(slot.form), slot.elements - before);
  const auto bytes = elements * (is_run ? shape.element_bytes : shape.pair_bytes());
  return {slot.form,
          static_cast<std::uint16_t>(elements),
          static_cast<std::uint16_t>(is_run ? before : 0),
          {shards_of(index) + number * full_, bytes}};
}

}  // namespace tributary::host
