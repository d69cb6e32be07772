// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::host {

// Keeps the latest results of a protocol whose packets have `Header`, numbered through all
// collectives: each takes the place of the one that is capacity() before it.
template <typename Header>
class KeptResults {
 public:
  KeptResults(std::size_t capacity, std::size_t payload_bytes) : payload_bytes_(payload_bytes) {
    grow(capacity);
  }

  std::size_t capacity() const { return slots_.size(); }
  // What was kept stays.
  void grow(std::size_t capacity) {
    auto old = std::exchange(slots_, std::vector<Slot>(capacity));
    for (const auto& slot : old) {
      if (slot.payload != nullptr) {
        at(slot.number) = slot;
      }
    }
    copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(capacity * payload_bytes_));
  }

  // Keeps a result whose elements stay where they are until settle() or drop().
  void keep(std::uint64_t number, const Header& header, wire::Bytes payload) {
    if (payload.empty()) {  // a barrier has no elements, and yet a result
      return keep_copy(number, header, payload);
    }
    at(number) = {header, payload.data(), false, number};
  }
  // Keeps a copy of a result, whose elements do not stay where they are.
  void keep_copy(std::uint64_t number, const Header& header, wire::Bytes payload) {
    auto* const copy = copies_.back().get() + index_of(number) * payload_bytes_;
    std::copy(payload.begin(), payload.end(), copy);
    at(number) = {header, copy, true, number};
  }

  // Copies the elements of the results from `first` to before `end`, as they will not stay where
  // they are.
  void settle(std::uint64_t first, std::uint64_t end) {
    for (auto number = latest(first, end); number < end; ++number) {
      const auto& slot = at(number);
      if (slot.number == number && slot.payload != nullptr && !slot.copied) {
        keep_copy(number, Header(slot.header), payload_of(slot));
      }
    }
  }
  // Forgets the results from `first` to before `end`, unless they were copied.
  void drop(std::uint64_t first, std::uint64_t end) {
    for (auto number = latest(first, end); number < end; ++number) {
      auto& slot = at(number);
      slot.payload = slot.copied ? slot.payload : nullptr;
    }
  }

  struct Result {
    Header header;
    wire::Bytes payload;
  };
  std::optional<Result> find(std::uint64_t number) const {
    const auto& slot = slots_[index_of(number)];
    if (slot.number != number || slot.payload == nullptr) {
      return std::nullopt;
    }
    return Result{slot.header, payload_of(slot)};
  }

 private:
  struct Slot {
    Header header;
    const std::byte* payload = nullptr;  // null: nothing is kept
    bool copied = false;
    std::uint64_t number = 0;
  };

  std::size_t index_of(std::uint64_t number) const { return number % slots_.size(); }
  Slot& at(std::uint64_t number) { return slots_[index_of(number)]; }
  std::uint64_t latest(std::uint64_t first, std::uint64_t end) const {
    return end - std::min<std::uint64_t>(end - first, slots_.size());
  }
  static wire::Bytes payload_of(const Slot& slot) {
    return {slot.payload,
            slot.header.elements.value() * wire::element_bytes(slot.header.element_type)};
  }

  std::size_t payload_bytes_;
  std::vector<Slot> slots_;  // by number
  // The buffers are never given back or moved while the object lives: packets that are still on
  // their way to the socket may lie in here. A packet that is overwritten on its way has a wrong
  // CRC.
  std::vector<std::unique_ptr<std::byte[]>> copies_;  // the last one is written
};

}  // namespace tributary::host
