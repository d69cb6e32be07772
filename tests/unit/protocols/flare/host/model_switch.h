// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "protocols/flare/wire.h"
#include "reduce/handlers/mark.h"
#include "reduce/kernel.h"

namespace tributary::host::test {

// Stands for all switches of a reduction tree: one switch whose children are the ranks. It has room
// for every block, and forgets them all when told to.
class FlareModelSwitch {
 public:
  explicit FlareModelSwitch(std::uint32_t ranks) : ranks_(ranks) {}

  // The packet to be sent, and its receivers; there is none if `ranks` is empty.
  struct Answer {
    std::vector<std::byte> bytes;
    std::vector<std::uint32_t> ranks;
  };
  Answer take(std::uint32_t rank, wire::MutableBytes packet) {
    const auto view = wire::parse_flare(packet);
    if (view.error != wire::FlareError::none) {
      return {};
    }
    auto& row = rows_[view.header->block.value()];
    row.has.resize(ranks_);
    switch (view.header->kind) {
      case wire::FlareKind::contribution:
        return add(row, rank, *view.header, view.payload);
      case wire::FlareKind::result:
        return keep(row, rank, packet);
      case wire::FlareKind::inquiry:
      case wire::FlareKind::refusal:
        break;
    }
    return {};
  }

  void forget() { rows_.clear(); }

  std::uint64_t other_mark = 0;  // by so much its handlers' marks differ from those of the ranks

 private:
  struct Row {
    std::vector<bool> has;
    std::uint32_t contributions = 0;
    std::vector<std::byte> sum;  // accumulators
    wire::FlareHeader header;
    std::vector<std::byte> result;  // once there is one: header and payload
  };

  Answer add(Row& row, std::uint32_t rank, const wire::FlareHeader& header, wire::Bytes payload) {
    if (!row.result.empty()) {
      return header.retransmission() ? Answer{row.result, {rank}} : Answer{};
    }
    if (row.has[rank]) {
      return header.asks() ? ask(row) : Answer{};
    }
    if (row.contributions != 0 && !is_like(row, header)) {
      return {refusal_of(row, header), {rank}};
    }
    row.has[rank] = true;
    accumulate(row, header, payload);
    if (row.contributions < ranks_) {
      return {};
    }
    finish(row, payload.size());
    return {row.result, all_but(ranks_)};
  }

  Answer keep(Row& row, std::uint32_t rank, wire::Bytes packet) {
    if (!row.result.empty()) {
      return {};
    }
    row.result.assign(packet.begin(), packet.end());
    return {row.result, all_but(rank)};
  }

  Answer ask(const Row& row) const {
    auto header = row.header;
    header.kind = wire::FlareKind::inquiry;
    header.flags = wire::FlareHeader::current_version;
    header.elements = 0;
    wire::seal(header, {});
    Answer answer{bytes_of(header, 0), {}};
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (!row.has[rank]) {
        answer.ranks.push_back(rank);
      }
    }
    return answer;
  }

  static std::vector<std::byte> refusal_of(const Row& row, wire::FlareHeader header) {
    header.kind = wire::FlareKind::refusal;
    header.flags = wire::FlareHeader::current_version;
    header.element_type = row.header.element_type;
    header.op = row.header.op;
    header.elements = 0;
    wire::seal(header, {});
    return bytes_of(header, 0);
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

  static bool is_like(const Row& row, const wire::FlareHeader& header) {
    return row.header.run == header.run && row.header.elements == header.elements &&
           row.header.element_type == header.element_type && row.header.op == header.op;
  }

  void accumulate(Row& row, const wire::FlareHeader& header, wire::Bytes payload) const {
    const auto& kernel = reduce::kernel(header.element_type, header.op);
    const std::size_t elements = header.elements.value();
    if (row.contributions++ == 0) {
      row.header = header;
      row.sum.resize(elements * kernel.accumulator_bytes);
      kernel.load(row.sum.data(), payload.data(), elements);
    } else {
      const auto mark = reduce::mark_of(header.op) + other_mark;
      row.header.fingerprint = row.header.fingerprint.value() + header.fingerprint.value() + mark;
      kernel.accumulate(row.sum.data(), payload.data(), elements);
    }
  }

  static std::vector<std::byte> bytes_of(const wire::FlareHeader& header, std::size_t payload) {
    std::vector<std::byte> bytes(sizeof header + payload);
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
  }

  void finish(Row& row, std::size_t bytes) const {
    auto& header = row.header;
    header.kind = wire::FlareKind::result;
    header.flags = wire::FlareHeader::current_version;
    header.contributions = static_cast<std::uint16_t>(row.contributions);
    std::vector<std::byte> payload(bytes);
    reduce::kernel(header.element_type, header.op)
        .store(payload.data(), row.sum.data(), header.elements.value());
    wire::seal(header, payload);
    row.result = bytes_of(header, bytes);
    std::copy(payload.begin(), payload.end(), row.result.data() + sizeof header);
  }

  std::uint32_t ranks_;
  std::map<std::uint64_t, Row> rows_;  // by block
};

}  // namespace tributary::host::test
