// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/wire.h"

#include "wire/sealed.h"

namespace tributary::wire {
namespace {

bool may_have_mask(const PanamaHeader& header) {
  return header.kind != PanamaKind::inquiry && header.workers.value() <= panama_masked_ranks_max;
}

// Handlers are not for PANAMA, whose fingerprints have no marks.
bool is_well_formed(const PanamaHeader& header) {
  const bool is_known = header.kind == PanamaKind::aggregation ||
                        header.kind == PanamaKind::result ||
                        (header.kind == PanamaKind::inquiry && header.elements.value() == 0);
  const auto contributions = header.contributions.value();
  return is_known && is_valid(header.element_type, header.op) && !is_handler(header.op) &&
         contributions >= 1 && contributions <= header.workers.value() &&
         (!header.has_mask() || may_have_mask(header));
}

std::size_t payload_bytes(const PanamaHeader& header) {
  return header.payload_bytes();
}

// Takes the mask out of the payload of a packet that has one.
[[gnu::noinline]] void part_mask(PanamaView& view) {
  const auto& header = *view.header;
  const bool sound = is_sound_mask(header, view.payload);
  view.mask = RankMask(view.payload.last(header.mask_bytes()));
  view.payload = view.payload.first(sound ? header.elements_bytes() : 0);
  view.error = sound ? PanamaError::none : PanamaError::malformed;
}

}  // namespace

bool is_sound_mask(const PanamaHeader& header, Bytes payload) {
  const RankMask mask(payload.last(header.mask_bytes()));
  return mask.count() == header.contributions.value() && mask.is_within(header.workers.value());
}

PanamaView parse_panama(MutableBytes bytes) {
  auto view = parse_sealed<PanamaView, is_well_formed, payload_bytes>(bytes);
  if (view.error == PanamaError::none && view.header->has_mask()) {
    part_mask(view);
  }
  return view;
}

}  // namespace tributary::wire
