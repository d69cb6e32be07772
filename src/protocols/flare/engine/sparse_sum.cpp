// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/sparse_sum.h"

#include <cstring>
#include <utility>

#include "protocols/flare/engine/sparse_type.h"

namespace tributary::flare {

void SparseSum::begin(const wire::FlareSparseHeader& header, bool is_root) {
  type_ = header.element_type;
  shape_ = wire::shape_of(header);
  span_ = header.span.value();
  is_root_ = is_root;
  const auto runs = shape_.runs(span_);
  has_array_ = is_root || runs <= HashStorage::pages;  // an array takes no more then
  spilled_ = 0;
  spills_until_array_ = (runs + 1) / 2;
}

bool SparseSum::take(const wire::FlareSparseHeader& header, wire::Bytes payload,
                     WorkingMemory& memory, SparseShards& out) {
  if (!reserve(header, memory)) {
    return false;
  }
  if (header.form == wire::FlareForm::pairs) {
    add_pairs(payload, memory, out);
    return true;
  }
  if (!has_array_) {
    change_to_array(memory);
  }
  array_.add_run(header.first.value(), payload);
  return true;
}

// Reserves all that the shard may need, so that nothing fails half way. What is not needed after
// all stays for the next one.
bool SparseSum::reserve(const wire::FlareSparseHeader& header, WorkingMemory& memory) {
  if (has_array_) {
    return reserve_array(memory);
  }
  if (!hash_ && !hash_.reserve(shape_, memory)) {
    return false;
  }
  if (spilled_pairs_ == nullptr) {
    spilled_pairs_ = take_buffer(shape_.full, memory);
  }
  if (spilled_pairs_ == nullptr) {
    return false;
  }
  return header.form == wire::FlareForm::run ? reserve_array(memory)
                                             : reserve_overflow(header.elements.value(), memory);
}

// A shard has no more pairs than the spill buffer, which is full no more than once over it.
bool SparseSum::reserve_overflow(std::size_t pairs, WorkingMemory& memory) {
  const auto there = spilled_pairs_->length / shape_.pair_bytes();
  if (there + pairs < shape_.pairs_per_shard()) {
    return true;
  }
  if (is_last_spill()) {
    return reserve_array(memory);
  }
  if (spare_ == nullptr) {
    spare_ = take_buffer(shape_.full, memory);
  }
  return spare_ != nullptr;
}

bool SparseSum::reserve_array(WorkingMemory& memory) {
  return array_ || array_.reserve(type_, shape_, span_, memory);
}

void SparseSum::add_pairs(wire::Bytes pairs, WorkingMemory& memory, SparseShards& out) {
  const auto pair_bytes = shape_.pair_bytes();
  with_sparse_type(type_, [&](auto of) {
    using T = decltype(of);
    for (std::size_t at = 0; at < pairs.size(); at += pair_bytes) {
      const auto* pair = pairs.data() + at;
      const auto offset = wire::flare_offset_at(pair);
      const auto value = load<T>(pair + wire::flare_offset_bytes);
      if (has_array_) {
        array_.add(offset, value);
      } else if (!hash_.put(offset, value)) {
        spill<T>(pair, memory, out);
      }
    }
  });
}

template <typename T>
void SparseSum::spill(const std::byte* pair, WorkingMemory& memory, SparseShards& out) {
  constexpr auto bytes = static_cast<std::uint32_t>(wire::flare_offset_bytes + sizeof(T));
  auto& buffer = *spilled_pairs_;
  std::memcpy(buffer.data() + buffer.length, pair, bytes);
  buffer.length += bytes;
  const auto count = shape_.pairs_per_shard();
  if (buffer.length < count * bytes) {
    return;
  }
  const bool is_last = is_last_spill();
  out.push(
      {std::move(spilled_pairs_), wire::FlareForm::pairs, static_cast<std::uint16_t>(count), 0});
  ++spilled_;
  if (is_last) {
    change_to_array(memory);
  } else {
    spilled_pairs_ = std::move(spare_);
  }
}

void SparseSum::change_to_array(WorkingMemory& memory) {
  with_sparse_type(type_, [&](auto of) {
    using T = decltype(of);
    const auto add = [&](const std::byte* pair) {
      array_.add(wire::flare_offset_at(pair), load<T>(pair + wire::flare_offset_bytes));
    };
    hash_.for_each(add);
    if (spilled_pairs_ != nullptr) {
      const auto pair_bytes = shape_.pair_bytes();
      for (std::size_t at = 0; at < spilled_pairs_->length; at += pair_bytes) {
        add(spilled_pairs_->data() + at);
      }
    }
  });
  has_array_ = true;
  hash_.clear(memory);
  give_back_buffer(spilled_pairs_, memory);
  give_back_buffer(spare_, memory);
}

// Whoever is above takes what is not there for zeros; ranks want results without gaps.
void SparseSum::finish(WorkingMemory& memory, SparseShards& out) {
  if (has_array_) {
    array_.take(!is_root_, memory, out);
  } else {
    hash_.take(std::move(spilled_pairs_), memory, out);
  }
  clear(memory);
}

void SparseSum::clear(WorkingMemory& memory) {
  hash_.clear(memory);
  array_.clear(memory);
  give_back_buffer(spilled_pairs_, memory);
  give_back_buffer(spare_, memory);
}

}  // namespace tributary::flare
