// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/lane.h"

#include <cstddef>

#include "engine/masked_words.h"
#include "protocols/flare/engine/headers.h"

namespace tributary::flare {
namespace {

// The contributions to a block are alike in this part of the header, but for how many ranks are in
// them, and for the words behind it.
constexpr auto common = [] {
  engine::MaskedWords<4> words;
  words.cover(offsetof(wire::FlareHeader, job), offsetof(wire::FlareHeader, contributions));
  // Run, block, flags with the version, kind, type, operator and elements are between these.
  words.cover(offsetof(wire::FlareHeader, workers), offsetof(wire::FlareHeader, fingerprint));
  // A slot has this once somebody in it has sent again.
  words.leave_out(offsetof(wire::FlareHeader, flags), wire::FlareHeader::retransmission_bit);
  return words;
}();
static_assert(decltype(common)::bytes <= sizeof(wire::FlareHeader));

}  // namespace

bool repeats(const wire::FlareHeader& next, const wire::FlareHeader& first) {
  return common.agree(&next, &first);
}

bool joins(const engine::Arrival& arrival, const Tree& tree, const Slot& slot) {
  const auto& frame = arrival.frame;
  const auto& header = *reinterpret_cast<const wire::FlareHeader*>(frame.payload.data());
  if (!slot.adds_up() || !repeats(header, slot.header) || header.retransmission() ||
      wire::is_handler(header.op)) {
    return false;
  }
  const auto elements = frame.payload.subspan(sizeof header);
  return header.contributions.value() != 0 && elements.size() == payload_bytes(header) &&
         !tree.misplaced(arrival, wire::FlareKind::contribution) &&
         !slot.has(tree.ports().child_of(arrival.packet->ingress)) &&
         wire::is_intact(header, elements);
}

}  // namespace tributary::flare
