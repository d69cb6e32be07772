// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <vector>

#include "host/element_types.h"
#include "model_switch.h"
#include "protocols/flare/sparse_wire.h"
#include "reduce/scalar.h"

namespace tributary::host::test {

inline std::vector<std::byte> sparse_packet_of(const wire::FlareSparseHeader& header,
                                               wire::Bytes payload) {
  std::vector<std::byte> bytes(sizeof header);
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

// The shards of a result, or of a rank's contribution, as the sparse switch of the model takes
// them.
class SparseModelShards {
 public:
  bool take(std::uint32_t shard) {
    const bool is_new = (bitmap_ >> shard & 1) == 0;
    bitmap_ |= std::uint64_t{1} << shard;
    return is_new;
  }
  void end_with(std::uint32_t shards) { shards_ = shards; }
  bool complete() const { return shards_ != 0 && bitmap_ == ~std::uint64_t{0} >> (64 - shards_); }

 private:
  std::uint64_t bitmap_ = 0;
  std::uint32_t shards_ = 0;
};

// Stands for all switches of a reduction tree for sparse blocks: one switch whose children are the
// ranks, with room for all elements of every block. It forgets them all when told to; its later
// sums are of another edition.
class SparseModelSwitch {
 public:
  using Answer = FlareModelSwitch::Answer;

  explicit SparseModelSwitch(std::uint32_t ranks) : ranks_(ranks) {}

  std::vector<Answer> take(std::uint32_t rank, wire::MutableBytes packet) {
    const auto view = wire::parse_flare_sparse(packet);
    if (view.error != wire::FlareError::none) {
      return {};
    }
    auto& row = rows_[view.header->block.value()];
    row.ranks.resize(ranks_);
    switch (view.header->kind) {
      case wire::FlareKind::contribution:
        return add(row, rank, *view.header, view.payload);
      case wire::FlareKind::result:
        return keep(row, rank, *view.header, packet);
      case wire::FlareKind::inquiry:
      case wire::FlareKind::refusal:
        break;
    }
    return {};
  }

  void forget() { rows_.clear(); }

 private:
  struct Row {
    std::vector<SparseModelShards> ranks;
    wire::FlareSparseHeader header;  // of the sum; its edition is 0 until it has begun
    std::vector<std::byte> sum;      // all elements of the block
    std::vector<bool> there;         // of which these were named
    std::uint64_t of_edition = 0;    // the result that comes from a rank
    SparseModelShards got;
    std::vector<std::vector<std::byte>> result;  // packets
    bool done = false;
  };

  std::vector<Answer> add(Row& row, std::uint32_t rank, const wire::FlareSparseHeader& header,
                          wire::Bytes payload) {
    if (row.done) {
      return header.retransmission() && header.is_last() ? all_of(row, {rank})
                                                         : std::vector<Answer>{};
    }
    if (row.header.edition.value() == 0) {
      begin(row, header);
    }
    auto& shards = row.ranks[rank];
    if (!is_like(row, header)) {
      return {};
    }
    if (shards.complete() || !shards.take(header.shard)) {
      return header.asks() ? ask(row) : std::vector<Answer>{};
    }
    accumulate(row, header, payload);
    if (header.is_last()) {
      shards.end_with(header.shards);
    }
    const auto is_complete = [](const SparseModelShards& one) { return one.complete(); };
    if (std::all_of(row.ranks.begin(), row.ranks.end(), is_complete)) {
      finish(row);
      return all_of(row, all_but(ranks_));
    }
    return {};
  }

  void begin(Row& row, const wire::FlareSparseHeader& header) {
    row.header = header;
    row.header.edition = ++edition_;
    row.header.fingerprint = 0;
    row.header.contributions = 0;
    row.sum.assign(header.span.value() * wire::element_bytes(header.element_type), std::byte{});
    row.there.assign(header.span.value(), false);
  }

  static bool is_like(const Row& row, const wire::FlareSparseHeader& header) {
    return row.header.run == header.run && row.header.span == header.span &&
           row.header.full == header.full && row.header.window == header.window &&
           row.header.element_type == header.element_type;
  }

  static void accumulate(Row& row, const wire::FlareSparseHeader& header, wire::Bytes payload) {
    auto& sum = row.header;
    sum.fingerprint = sum.fingerprint.value() + header.fingerprint.value();
    sum.contributions =
        static_cast<std::uint16_t>(sum.contributions.value() + header.contributions.value());
    const bool is_run = header.form == wire::FlareForm::run;
    const auto pair_bytes = wire::shape_of(header).pair_bytes();
    with_sparse_type(header.element_type, [&]<typename T>(T) {
      for (std::size_t i = 0; i < header.elements.value(); ++i) {
        const auto* const pair = payload.data() + i * pair_bytes;
        const auto at = is_run ? header.first.value() + i : wire::flare_offset_at(pair);
        const auto value =
            is_run ? load<T>(payload.data(), i) : load<T>(pair + wire::flare_offset_bytes, 0);
        store(row.sum.data(), at, reduce::plus(load<T>(row.sum.data(), at), value));
        row.there[at] = true;
      }
    });
  }

  static void finish(Row& row) {
    const auto shape = wire::shape_of(row.header);
    const auto span = row.header.span.value();
    const auto present =
        static_cast<std::size_t>(std::count(row.there.begin(), row.there.end(), true));
    const bool as_pairs = shape.prefers_pairs(present, span);
    std::vector<std::vector<std::byte>> payloads(1);
    std::vector<std::uint16_t> firsts(1, 0);
    for (std::size_t at = 0; at < span; ++at) {
      const auto each = as_pairs ? shape.pair_bytes() : shape.element_bytes;
      if (as_pairs && !row.there[at]) {
        continue;
      }
      if (payloads.back().size() + each > shape.full) {
        payloads.emplace_back();
        firsts.push_back(static_cast<std::uint16_t>(as_pairs ? 0 : at));
      }
      auto& payload = payloads.back();
      if (as_pairs) {
        const auto offset = static_cast<std::uint16_t>(at);
        const auto bytes = std::as_bytes(std::span(&offset, 1));
        payload.insert(payload.end(), bytes.begin(), bytes.end());
      }
      const auto* const value = row.sum.data() + at * shape.element_bytes;
      payload.insert(payload.end(), value, value + shape.element_bytes);
    }
    pack(row, as_pairs, payloads, firsts);
  }

  static void pack(Row& row, bool as_pairs, const std::vector<std::vector<std::byte>>& payloads,
                   const std::vector<std::uint16_t>& firsts) {
    const auto shape = wire::shape_of(row.header);
    auto header = row.header;
    row.result.clear();
    header.kind = wire::FlareKind::result;
    header.flags = wire::FlareSparseHeader::current_version | wire::FlareSparseHeader::sparse_bit;
    header.form = as_pairs ? wire::FlareForm::pairs : wire::FlareForm::run;
    header.shards = static_cast<std::uint8_t>(payloads.size());
    for (std::size_t i = 0; i < payloads.size(); ++i) {
      header.shard = static_cast<std::uint8_t>(i);
      header.first = firsts[i];
      header.elements = static_cast<std::uint16_t>(
          payloads[i].size() / (as_pairs ? shape.pair_bytes() : shape.element_bytes));
      wire::seal(header, payloads[i]);
      row.result.push_back(sparse_packet_of(header, payloads[i]));
    }
    row.done = true;
  }

  // A shard of a result from a rank that was asked goes on at once.
  std::vector<Answer> keep(Row& row, std::uint32_t rank, const wire::FlareSparseHeader& header,
                           wire::Bytes packet) {
    if (row.done) {
      return {};
    }
    if (row.of_edition != header.edition.value()) {
      row.of_edition = header.edition.value();
      row.got = {};
      row.result.clear();
    }
    if (!row.got.take(header.shard)) {
      return {};
    }
    row.got.end_with(header.shards);
    row.result.emplace_back(packet.begin(), packet.end());
    row.done = row.got.complete();
    return {{row.result.back(), all_but(rank)}};
  }

  std::vector<Answer> ask(const Row& row) const {
    auto header = row.header;
    header.kind = wire::FlareKind::inquiry;
    header.flags = wire::FlareSparseHeader::current_version | wire::FlareSparseHeader::sparse_bit;
    header.form = wire::FlareForm::pairs;
    header.fingerprint = 0;
    header.edition = 0;
    header.elements = 0;
    header.contributions = 0;
    header.first = 0;
    header.shard = 0;
    header.shards = 0;
    wire::seal(header, {});
    Answer answer{sparse_packet_of(header, {}), {}};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (!row.ranks[rank].complete()) {
        answer.ranks.push_back(rank);
      }
    }
    return {answer};
  }

  static std::vector<Answer> all_of(const Row& row, const std::vector<std::uint32_t>& ranks) {
    std::vector<Answer> answers;
    for (const auto& packet : row.result) {
      answers.push_back({packet, ranks});
    }
    return answers;
  }

  std::vector<std::uint32_t> all_but(std::uint32_t one) const {
    std::vector<std::uint32_t> ranks;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (rank != one) {
        ranks.push_back(rank);
      }
    }
    return ranks;
  }

  std::uint32_t ranks_;
  std::uint64_t edition_ = 0;
  std::map<std::uint64_t, Row> rows_;  // by block
};

}  // namespace tributary::host::test
