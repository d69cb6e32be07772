// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/wire.h"

#include "wire/sealed.h"

namespace tributary::wire {
namespace {

// Handlers are not for PANAMA, whose fingerprints have no marks.
bool is_well_formed(const PanamaHeader& header) {
  const bool is_known = header.kind == PanamaKind::aggregation ||
                        header.kind == PanamaKind::result ||
                        (header.kind == PanamaKind::inquiry && header.elements.value() == 0);
  const auto contributions = header.contributions.value();
  return is_known && is_valid(header.element_type, header.op) && !is_handler(header.op) &&
         contributions >= 1 && contributions <= header.workers.value();
}

}  // namespace

PanamaView parse_panama(MutableBytes bytes) {
  return parse_sealed<PanamaView>(bytes, is_well_formed);
}

}  // namespace tributary::wire
