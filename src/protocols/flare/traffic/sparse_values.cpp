// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/sparse_values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "reduce/element_types.h"
#include "wire/crc32.h"
#include "wire/key.h"

namespace tributary::flare {
namespace {

using reduce::with_sparse_type;
using wire::ElementType;
using wire::FlareForm;

// Returns a magnitude up to which 64 numbers, added in any order, are exact in the type, and do not
// wrap.
std::int64_t magnitude_of(ElementType type) {
  switch (type) {
    case ElementType::i8:
      return 1;
    case ElementType::bf16:
      return 3;
    case ElementType::f16:
      return 31;
    case ElementType::i16:
      return 511;
    case ElementType::f32:
      return 262143;
    case ElementType::i32:
      return 1 << 24;
    default:
      return std::int64_t{1} << 46;
  }
}

std::int64_t number_of(std::uint64_t bits, std::int64_t magnitude) {
  const auto size = static_cast<std::int64_t>(bits >> 1) % magnitude + 1;
  return (bits & 1) != 0 ? -size : size;
}

void append(std::vector<std::byte>& bytes, const void* from, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(from);
  bytes.insert(bytes.end(), first, first + count);
}

template <typename T>
void append_number(std::vector<std::byte>& bytes, std::int64_t number) {
  if constexpr (std::is_arithmetic_v<T>) {
    const auto value = static_cast<T>(number);
    append(bytes, &value, sizeof value);
  } else {
    const T value(static_cast<float>(number));
    append(bytes, &value, sizeof value);
  }
}

// Returns no value if it is not whole, or larger than any that can come.
template <typename T>
std::optional<std::int64_t> whole_number(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    double number;
    if constexpr (std::is_arithmetic_v<T>) {
      number = value;
    } else {
      number = static_cast<float>(value);
    }
    constexpr double most = 0x1p53;
    const bool is_whole = std::trunc(number) == number && std::abs(number) < most;
    return is_whole ? std::optional(static_cast<std::int64_t>(number)) : std::nullopt;
  }
}

}  // namespace

SparseValues::SparseValues(ElementType type, std::uint32_t ranks, const SparsePlan& plan)
    : type_(type), span_(plan.span()), shape_(plan.shape(type)) {
  for (std::size_t place = 0; place < span_; ++place) {
    weights_.push_back(wire::mix_key(place + 1, 0x776569676874ULL) | 1);
  }
  std::vector<Numbers> totals(variants, Numbers(span_));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t variant = 0; variant < variants; ++variant) {
      const auto own = numbers(plan, rank, variant);
      contributions_.push_back(cut(own, plan.pairs));
      for (std::size_t place = 0; place < span_; ++place) {
        totals[variant][place] += own[place];
      }
    }
  }
  for (const auto& total : totals) {
    results_.push_back(cut(total, shape_.pairs_per_shard()));
    sums_.push_back(weighed(total));
  }
}

SparseValues::Numbers SparseValues::numbers(const SparsePlan& plan, std::uint32_t rank,
                                            std::uint32_t variant) const {
  Numbers all(span_);
  for (std::uint64_t i = 0; i < plan.present(); ++i) {
    const auto bits = wire::mix_key(wire::mix_key(i + 1, 0), rank * variants + variant);
    const auto place = i * plan.spacing + (bits >> 32) % plan.spacing;
    all[place] = number_of(wire::mix_key(bits, 1), magnitude_of(type_));
  }
  return all;
}

std::uint64_t SparseValues::weighed(const Numbers& numbers) const {
  std::uint64_t total = 0;
  for (std::size_t place = 0; place < span_; ++place) {
    total += static_cast<std::uint64_t>(numbers[place]) * weights_[place];
  }
  return total;
}

// Cuts into pairs or runs, as whoever sends it decides.
SparseValues::Shards SparseValues::cut(const Numbers& numbers, std::size_t pairs_per_shard) const {
  const auto zeros =
      static_cast<std::size_t>(std::count(numbers.begin(), numbers.end(), std::int64_t{0}));
  auto shards = shape_.prefers_pairs(span_ - zeros, span_) ? cut_pairs(numbers, pairs_per_shard)
                                                           : cut_runs(numbers);
  for (auto& shard : shards) {
    shard.payload_crc = wire::crc32(0, shard.payload);
  }
  return shards;
}

SparseValues::Shards SparseValues::cut_pairs(const Numbers& numbers, std::size_t per_shard) const {
  Shards shards(1);
  for (std::size_t place = 0; place < span_; ++place) {
    if (numbers[place] == 0) {
      continue;
    }
    if (shards.back().elements == per_shard) {
      shards.emplace_back();
    }
    auto& shard = shards.back();
    ++shard.elements;
    const auto offset = static_cast<std::uint16_t>(place);
    append(shard.payload, &offset, sizeof offset);
    with_sparse_type(type_,
                     [&](auto of) { append_number<decltype(of)>(shard.payload, numbers[place]); });
  }
  return shards;
}

SparseValues::Shards SparseValues::cut_runs(const Numbers& numbers) const {
  Shards shards(shape_.runs(span_));
  const auto per_shard = shape_.elements_per_run();
  for (std::size_t place = 0; place < span_; ++place) {
    auto& shard = shards[place / per_shard];
    shard.form = FlareForm::run;
    shard.first = static_cast<std::uint16_t>(place / per_shard * per_shard);
    ++shard.elements;
    with_sparse_type(type_,
                     [&](auto of) { append_number<decltype(of)>(shard.payload, numbers[place]); });
  }
  return shards;
}

std::optional<std::uint64_t> SparseValues::weigh(const wire::FlareSparseHeader& header,
                                                 wire::Bytes payload, bool in_order) const {
  const bool is_run = header.form == FlareForm::run;
  const auto step = is_run ? shape_.element_bytes : shape_.pair_bytes();
  return with_sparse_type(type_, [&](auto of) -> std::optional<std::uint64_t> {
    std::uint64_t total = 0;
    std::size_t next = header.first.value();  // place of a run's, and the least one of a pair's
    for (std::size_t at = 0; at < payload.size(); at += step) {
      const auto* element = payload.data() + at;
      const std::size_t place = is_run ? next : wire::flare_offset_at(element);
      const auto number =
          whole_number<decltype(of)>(is_run ? element : element + wire::flare_offset_bytes);
      if (!number || place >= span_ || (in_order && place < next)) {
        return std::nullopt;
      }
      total += static_cast<std::uint64_t>(*number) * weights_[place];
      next = place + 1;
    }
    return total;
  });
}

}  // namespace tributary::flare
