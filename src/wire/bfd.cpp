// SPDX-License-Identifier: BSD-3-Clause
#include "wire/bfd.h"

namespace tributary::wire {

const BfdHeader* parse_bfd(Bytes payload) {
  Cursor cursor(payload);
  const auto* header = cursor.take<BfdHeader>();
  if (header == nullptr || header->version_diagnostic >> 5 != BfdHeader::version) {
    return nullptr;
  }
  const bool fits = header->length >= sizeof(BfdHeader) && header->length <= payload.size();
  const bool refused = header->has(BfdHeader::authentication | BfdHeader::multipoint);
  // A sender that does not know our discriminator yet has no business beyond Down.
  const bool early = header->your_discriminator.value() == 0 &&
                     (header->state() == BfdState::init || header->state() == BfdState::up);
  if (!fits || refused || early || header->detect_multiplier == 0 ||
      header->my_discriminator.value() == 0) {
    return nullptr;
  }
  return header;
}

}  // namespace tributary::wire
