// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "protocols/panama/wire.h"
#include "reduce/kernel.h"

namespace tributary::host::test {

// Stands for all switches of a job's trees; it adds up the packets, and forgets nothing.
class ModelRoot {
 public:
  ModelRoot(std::uint32_t ranks, std::uint32_t quorum) : ranks_(ranks), quorum_(quorum) {}

  std::uint16_t window_cap = 64;

  // The packets to be sent for a packet: a result to all, or a lost result again to its sender.
  struct Answer {
    const std::vector<std::byte>* result = nullptr;
    bool to_all = false;
  };
  Answer add(wire::MutableBytes packet) {
    const auto view = wire::parse_panama(packet);
    if (view.error != wire::PanamaError::none ||
        view.header->kind != wire::PanamaKind::aggregation) {
      return {};
    }
    const auto& header = *view.header;
    if (header.has_mask() != (quorum_ < ranks_)) {
      return {};
    }
    auto& row = rows_[{header.epoch.value(), header.tree.value(), header.vid.value()}];
    row.has.resize(ranks_);
    if (!row.result.empty()) {
      return header.retransmission() ? Answer{&row.result, false} : Answer{};
    }
    const std::size_t rank = header.rank.value();
    if (rank >= ranks_ || row.has[rank] || (row.contributions != 0 && !is_like(row, header))) {
      return {};
    }
    row.has[rank] = true;
    accumulate(row, header, view.payload);
    if (row.contributions < quorum_) {
      return {};
    }
    finish(row);
    return {&row.result, true};
  }

 private:
  struct Row {
    std::vector<bool> has;
    std::uint32_t contributions = 0;
    std::vector<std::byte> sum;  // accumulators
    wire::PanamaHeader header;
    std::vector<std::byte> result;  // once there is one: header and payload
  };
  using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>;

  static bool is_like(const Row& row, const wire::PanamaHeader& header) {
    return row.header.elements == header.elements &&
           row.header.element_type == header.element_type && row.header.op == header.op;
  }

  static void accumulate(Row& row, const wire::PanamaHeader& header, wire::Bytes payload) {
    const auto& kernel = reduce::kernel(header.element_type, header.op);
    const std::size_t elements = header.elements.value();
    if (row.contributions++ == 0) {
      row.header = header;
      row.sum.resize(elements * kernel.accumulator_bytes);
      kernel.load(row.sum.data(), payload.data(), elements);
    } else {
      row.header.fingerprint = row.header.fingerprint.value() + header.fingerprint.value();
      kernel.accumulate(row.sum.data(), payload.data(), elements);
    }
  }

  void finish(Row& row) const {
    auto& header = row.header;
    header.kind = wire::PanamaKind::result;
    header.rank = wire::PanamaHeader::no_rank;
    header.contributions = static_cast<std::uint16_t>(row.contributions);
    header.wnd_cap = window_cap;
    row.result.resize(sizeof header + header.payload_bytes());
    const auto payload = wire::MutableBytes(row.result).subspan(sizeof header);
    reduce::kernel(header.element_type, header.op)
        .store(payload.data(), row.sum.data(), header.elements.value());
    for (std::uint32_t rank = 0; header.has_mask() && rank < ranks_; ++rank) {
      wire::set_rank(payload.last(header.mask_bytes()), rank, row.has[rank]);
    }
    seal(header, payload);
    std::memcpy(row.result.data(), &header, sizeof header);
  }

  std::uint32_t ranks_;
  std::uint32_t quorum_;
  std::map<Key, Row> rows_;
};

}  // namespace tributary::host::test
