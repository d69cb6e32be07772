// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/wire.h"

#include "wire/sealed.h"

namespace tributary::wire {
namespace {

constexpr std::uint8_t known_flags =
    FlareHeader::retransmission_bit | FlareHeader::answer_bit | FlareHeader::version_mask;

bool is_kind_possible(const FlareHeader& header) {
  return header.kind == FlareKind::contribution || header.kind == FlareKind::result ||
         ((header.kind == FlareKind::inquiry || header.kind == FlareKind::refusal) &&
          header.elements.value() == 0);
}

bool is_well_formed(const FlareHeader& header) {
  const auto contributions = header.contributions.value();
  const auto window = header.window.value();
  return (header.flags & ~known_flags) == 0 && is_kind_possible(header) &&
         is_valid(header.element_type, header.op) && contributions >= 1 &&
         contributions <= header.workers.value() && window >= 1 && window <= flare_window_max;
}

}  // namespace

FlareView parse_flare(MutableBytes bytes) {
  return parse_sealed<FlareView, is_well_formed>(bytes);
}

}  // namespace tributary::wire
