// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/sparse_result.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tributary::host {

SparseResults::SparseResults(std::uint32_t window, std::size_t full)
    : full_(full),
      slots_(window),
      bytes_(std::make_unique_for_overwrite<std::byte[]>(window * wire::flare_runs_max * full)) {}

Verdict SparseResults::take(const wire::FlareSparseHeader& header, wire::Bytes payload) {
  const auto block = header.block.value();
  auto& mine = slot(block);
  if (mine.block == block && mine.is_complete()) {
    return Verdict::duplicate;
  }
  if (!mine.is_of(header)) {
    mine.block = block;
    mine.edition = header.edition.value();
    mine.shards = header.shards;
    mine.bitmap = 0;
  }
  const auto bit = std::uint32_t{1} << header.shard;
  if ((mine.bitmap & bit) != 0) {
    return Verdict::duplicate;
  }
  mine.bitmap |= bit;
  mine.headers[header.shard] = header;
  std::copy(payload.begin(), payload.end(), payload_of(block, header.shard));
  return Verdict::taken;
}

std::uint32_t SparseResults::shards(std::uint64_t block) const {
  const auto& mine = slot(block);
  return mine.block == block && mine.is_complete() ? mine.shards : 0;
}

SparseResults::Shard SparseResults::shard(std::uint64_t block, std::uint32_t number) const {
  const auto& header = slot(block).headers[number];
  return {header, {payload_of(block, number), wire::flare_payload_bytes(header)}};
}

std::optional<SparsePart> SparseResults::part(std::uint64_t block,
                                              const FlareSparseBlocks& blocks) const {
  const auto& mine = slot(block);
  const auto form = mine.headers.front().form;
  const auto is_like = [form](const wire::FlareSparseHeader& header) {
    return header.form == form;
  };
  if (!std::all_of(mine.headers.begin(), mine.headers.begin() + mine.shards, is_like)) {
    return std::nullopt;
  }
  return form == wire::FlareForm::run ? joined_runs(block, blocks) : joined_pairs(block, blocks);
}

// Joins all elements, without gaps.
std::optional<SparsePart> SparseResults::joined_runs(std::uint64_t block,
                                                     const FlareSparseBlocks& blocks) const {
  const auto range = blocks.range(blocks.index_of(block));
  SparsePartHeader header;
  header.form = SparseForm::dense;
  header.elements = static_cast<std::uint32_t>(range.count);
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  std::size_t next = 0;
  for (std::uint32_t number = 0; number < slot(block).shards; ++number) {
    const auto run = shard(block, number);
    if (run.header.first.value() != next) {
      return std::nullopt;
    }
    next += run.header.elements.value();
    bytes.insert(bytes.end(), run.payload.begin(), run.payload.end());
  }
  return next == range.count ? SparsePart::parse(std::move(bytes), range, blocks.type)
                             : std::nullopt;
}

// Offsets increase through all shards: an element that was there twice would be two sums of which
// neither is right.
std::optional<SparsePart> SparseResults::joined_pairs(std::uint64_t block,
                                                      const FlareSparseBlocks& blocks) const {
  const auto range = blocks.range(blocks.index_of(block));
  const auto pair_bytes = blocks.shape().pair_bytes();
  std::vector<std::uint32_t> indices;
  std::vector<std::byte> values;
  for (std::uint32_t number = 0; number < slot(block).shards; ++number) {
    const auto pairs = shard(block, number).payload;
    for (std::size_t at = 0; at < pairs.size(); at += pair_bytes) {
      const auto pair = pairs.subspan(at, pair_bytes);
      const auto index =
          static_cast<std::uint32_t>(range.first + wire::flare_offset_at(pair.data()));
      if (!indices.empty() && index <= indices.back()) {
        return std::nullopt;
      }
      indices.push_back(index);
      values.insert(values.end(), pair.begin() + wire::flare_offset_bytes, pair.end());
    }
  }
  const SparseBuffers found{indices, values.data(), blocks.count, blocks.type, wire::Operator::sum};
  return SparsePart(found, range);
}

}  // namespace tributary::host
