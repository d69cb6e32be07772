// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/pause_speaker.h"

namespace tributary::forwarding {
namespace {

bool is_full(bool was_full, std::uint64_t bytes, std::uint64_t xoff, std::uint64_t xon) {
  return bytes > (was_full ? xon : xoff);
}

}  // namespace

std::uint8_t PauseSpeaker::judge(const PortBuffer& buffer) {
  full_ = is_full(full_ != 0, buffer.bytes(), limits_.xoff, limits_.xon) ? wire::all_classes : 0;
  if (limits_.mode != FlowControl::pfc) {
    return full_;
  }
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    const auto bit = static_cast<std::uint8_t>(1u << priority);
    const bool full = is_full((classes_full_ & bit) != 0, buffer.bytes(priority),
                              limits_.class_xoff, limits_.class_xon);
    classes_full_ = static_cast<std::uint8_t>(full ? classes_full_ | bit : classes_full_ & ~bit);
  }
  return static_cast<std::uint8_t>((full_ | classes_full_) & limits_.classes.bits);
}

std::optional<wire::Pause> PauseSpeaker::poll(const PortBuffer& buffer, Time now) {
  if (limits_.mode == FlowControl::off) {
    reset();  // the silence that was asked for ends by itself
    return std::nullopt;
  }
  const auto wanted = judge(buffer);
  if (wanted == silenced_ && now < deadline()) {
    return std::nullopt;
  }
  wire::Pause pause;
  pause.by_class = limits_.mode == FlowControl::pfc;
  pause.classes = pause.by_class ? wanted | silenced_ : wire::all_classes;
  for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
    pause.quanta[priority] = ((wanted >> priority) & 1) != 0 ? limits_.quanta : 0;
  }
  silenced_ = wanted;
  again_ = now + limits_.again;
  return pause;
}

}  // namespace tributary::forwarding
