// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/retention.h"

#include <algorithm>

namespace tributary::host {

PanamaRetention::PanamaRetention(std::uint32_t window, bool partial, std::uint32_t payload_bytes)
    : window_(window), partial_(partial), kept_(2 * std::size_t{window}, payload_bytes) {}

// Switches lower the cap on its way down: another rank may have been told more than this one.
std::uint64_t PanamaRetention::reach() const {
  constexpr std::uint64_t windows = 3;
  return partial_
             ? std::max<std::uint64_t>(windows * std::max(widest_, window_), wire::panama_kept_min)
             : window_;
}

void PanamaRetention::begin(std::uint32_t epoch) {
  first_ = end_;
  spans_[epoch % spans_.size()] = {epoch, first_};
}

std::uint64_t PanamaRetention::take_position(const wire::PanamaHeader& header) {
  if (partial_) {
    widest_ = std::clamp<std::uint32_t>(header.wnd_cap.value(), widest_, wire::panama_cap_max);
  }
  // Results of one window more may have overtaken others.
  if (const auto needed = reach() + window_; needed > kept_.capacity()) {
    kept_.grow(needed);
  }
  const auto position = first_ + header.vid.value();
  end_ = std::max(end_, position + 1);
  return position;
}

void PanamaRetention::keep(const PanamaKeptHeader& header, wire::Bytes elements) {
  kept_.keep(take_position(header), header, elements);
}

void PanamaRetention::keep_copy(const PanamaKeptHeader& header, wire::Bytes elements) {
  kept_.keep_copy(take_position(header), header, elements);
}

void PanamaRetention::settle() {
  kept_.settle(end_ - std::min(end_ - first_, reach()), end_);
  drop();
}

void PanamaRetention::drop() {
  kept_.drop(first_, end_);
}

std::optional<PanamaRetention::Result> PanamaRetention::find(std::uint32_t epoch,
                                                             std::uint32_t vid) const {
  const auto& span = spans_[epoch % spans_.size()];
  const auto result = kept_.find(span.first + vid);
  if (span.epoch != epoch || !result || result->header.epoch.value() != epoch ||
      result->header.vid.value() != vid) {
    return std::nullopt;
  }
  return result;
}

}  // namespace tributary::host
