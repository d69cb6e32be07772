// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

template <typename T>
using PairsOf = std::vector<std::pair<std::uint16_t, T>>;
using Pairs = PairsOf<std::int32_t>;
using Bytes = std::vector<std::byte>;

// Returns the pairs as they stand in a packet.
template <typename T>
Bytes bytes_of(const PairsOf<T>& pairs) {
  Bytes bytes(pairs.size() * (wire::flare_offset_bytes + sizeof(T)));
  auto* at = bytes.data();
  for (const auto& [offset, value] : pairs) {
    std::memcpy(at, &offset, sizeof offset);
    std::memcpy(at + sizeof offset, &value, sizeof value);
    at += sizeof offset + sizeof value;
  }
  return bytes;
}

template <typename T>
Bytes bytes_of(const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

// Adds what a shard brings to the elements of a block.
template <typename T>
void add_shard(std::vector<T>& sums, wire::FlareForm form, std::size_t first, wire::Bytes payload) {
  const bool is_run = form == wire::FlareForm::run;
  const auto each = sizeof(T) + (is_run ? 0 : wire::flare_offset_bytes);
  for (std::size_t at = 0; at < payload.size(); at += each, ++first) {
    const auto* bytes = payload.data() + at;
    T value;
    std::memcpy(&value, bytes + each - sizeof value, sizeof value);
    const auto offset = is_run ? first : wire::flare_offset_at(bytes);
    sums.at(offset) = static_cast<T>(sums.at(offset) + value);
  }
}

}  // namespace tributary::flare
