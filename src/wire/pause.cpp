// SPDX-License-Identifier: BSD-3-Clause
#include "wire/pause.h"

#include <algorithm>
#include <iterator>

namespace tributary::wire {
namespace {

Pause pause_of(const PauseHeader& header) {
  Pause pause{false, all_classes, {}};
  pause.quanta.fill(header.quanta.value());
  return pause;
}

Pause pause_of(const PriorityPauseHeader& header) {
  // The upper octet of the vector is reserved, and receivers ignore it.
  Pause pause{true, static_cast<std::uint8_t>(header.enabled.value() & all_classes), {}};
  std::transform(std::begin(header.quanta), std::end(header.quanta), pause.quanta.begin(),
                 [](be16 quanta) { return quanta.value(); });
  return pause;
}

template <typename Header>
std::optional<Pause> parse_as(Bytes message) {
  const auto* header = Cursor(message).take<Header>();
  return header != nullptr ? std::optional(pause_of(*header)) : std::nullopt;
}

}  // namespace

std::optional<Pause> parse_pause(Bytes frame) {
  Cursor cursor(frame);
  const auto* ethernet = cursor.take<EthernetHeader>();
  if (ethernet == nullptr || !is_mac_control(*ethernet)) {
    return std::nullopt;
  }
  const auto message = cursor.rest();
  const auto* opcode = cursor.take<be16>();
  if (opcode != nullptr && opcode->value() == PauseHeader::opcode_pause) {
    return parse_as<PauseHeader>(message);
  }
  if (opcode != nullptr && opcode->value() == PriorityPauseHeader::opcode_priority_pause) {
    return parse_as<PriorityPauseHeader>(message);
  }
  return std::nullopt;
}

PauseFrame make_pause(const MacAddress& source, const Pause& pause) {
  PauseFrame frame{};
  MutableCursor cursor(frame);
  auto* ethernet = cursor.take<EthernetHeader>();
  ethernet->destination = mac_control_group;
  ethernet->source = source;
  ethernet->type = ethertype::mac_control;
  if (pause.by_class) {
    auto* header = cursor.take<PriorityPauseHeader>();
    *header = {};
    header->enabled = std::uint16_t{pause.classes};
    std::copy(pause.quanta.begin(), pause.quanta.end(), std::begin(header->quanta));
  } else {
    auto* header = cursor.take<PauseHeader>();
    *header = {};
    header->quanta = pause.quanta.front();
  }
  return frame;
}

}  // namespace tributary::wire
