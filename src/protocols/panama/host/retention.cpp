// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/retention.h"

#include <algorithm>
#include <utility>

namespace tributary::host {

PanamaRetention::PanamaRetention(std::uint32_t window, bool partial, std::uint32_t payload_bytes)
    : window_(window), partial_(partial), payload_bytes_(payload_bytes) {
  grow(2 * std::size_t{window});
}

std::uint64_t PanamaRetention::reach() const {
  constexpr std::uint64_t windows = 3;
  return partial_ ? std::max<std::uint64_t>(windows * widest_, wire::panama_kept_min)
                  : std::min(widest_, window_);
}

void PanamaRetention::grow(std::size_t slots) {
  auto old = std::exchange(slots_, std::vector<Slot>(slots));
  for (const auto& slot : old) {
    if (slot.payload != nullptr) {
      slots_[index_of(slot.position)] = slot;
    }
  }
  copies_.push_back(std::make_unique_for_overwrite<std::byte[]>(slots * payload_bytes_));
}

void PanamaRetention::begin(std::uint32_t epoch) {
  first_ = end_;
  spans_[epoch % spans_.size()] = {epoch, first_};
}

PanamaRetention::Slot& PanamaRetention::put(const wire::PanamaHeader& header) {
  widest_ = std::clamp<std::uint32_t>(header.wnd_cap.value(), widest_, wire::panama_cap_max);
  // Results of one window more may have overtaken others.
  if (const auto needed = reach() + window_; needed > slots_.size()) {
    grow(needed);
  }
  const auto position = first_ + header.vid.value();
  auto& slot = slots_[index_of(position)];
  slot.header = header;
  slot.position = position;
  end_ = std::max(end_, position + 1);
  return slot;
}

void PanamaRetention::keep(const wire::PanamaHeader& header, wire::Bytes payload) {
  auto& slot = put(header);
  // A barrier has no elements, and yet a result.
  slot.payload = payload.empty() ? copies_.back().get() : payload.data();
  slot.copied = payload.empty();
}

void PanamaRetention::keep_copy(const wire::PanamaHeader& header, wire::Bytes payload) {
  auto& slot = put(header);
  auto* copy = room(index_of(slot.position));
  std::copy(payload.begin(), payload.end(), copy);
  slot.payload = copy;
  slot.copied = true;
}

void PanamaRetention::settle() {
  for (auto position = end_ - std::min(end_ - first_, reach()); position < end_; ++position) {
    const auto& slot = slots_[index_of(position)];
    if (slot.position == position && slot.payload != nullptr && !slot.copied) {
      const auto bytes =
          slot.header.elements.value() * wire::element_bytes(slot.header.element_type);
      keep_copy(wire::PanamaHeader(slot.header), {slot.payload, bytes});
    }
  }
  drop();
}

void PanamaRetention::drop() {
  for (auto position = end_ - std::min<std::uint64_t>(end_ - first_, slots_.size());
       position < end_; ++position) {
    auto& slot = slots_[index_of(position)];
    slot.payload = slot.copied ? slot.payload : nullptr;
  }
}

std::optional<PanamaRetention::Result> PanamaRetention::find(std::uint32_t epoch,
                                                             std::uint32_t vid) const {
  const auto& span = spans_[epoch % spans_.size()];
  const auto position = span.first + vid;
  const auto& slot = slots_[index_of(position)];
  if (span.epoch != epoch || slot.position != position || slot.payload == nullptr ||
      slot.header.epoch.value() != epoch || slot.header.vid.value() != vid) {
    return std::nullopt;
  }
  const auto bytes = slot.header.elements.value() * wire::element_bytes(slot.header.element_type);
  return Result{slot.header, {slot.payload, bytes}};
}

}  // namespace tributary::host
