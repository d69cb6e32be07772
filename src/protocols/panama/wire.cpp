// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/wire.h"

#include <cstddef>

#include "wire/crc32.h"

namespace tributary::wire {
namespace {

bool is_well_formed(const PanamaHeader& header) {
  const bool is_known = header.kind == PanamaKind::aggregation ||
                        header.kind == PanamaKind::result ||
                        (header.kind == PanamaKind::inquiry && header.elements.value() == 0);
  const auto contributions = header.contributions.value();
  return is_known && is_valid(header.element_type, header.op) && contributions >= 1 &&
         contributions <= header.workers.value();
}

Bytes covered(const PanamaHeader& header) {
  return std::as_bytes(std::span(&header, 1)).first(offsetof(PanamaHeader, crc));
}

}  // namespace

PanamaView parse_panama(MutableBytes bytes) {
  MutableCursor cursor(bytes);
  PanamaView view;
  auto* header = cursor.take<PanamaHeader>();
  if (header == nullptr) {
    return view;
  }
  view.header = header;
  const auto fail = [&view](PanamaError error) {
    view.error = error;
    return view;
  };
  if (header->version() != PanamaHeader::current_version) {
    return fail(PanamaError::version);
  }
  if (!is_well_formed(*header)) {
    return fail(PanamaError::malformed);
  }
  const std::size_t expected = header->elements.value() * element_bytes(header->element_type);
  const auto payload = cursor.rest();
  if (payload.size() != expected) {
    return fail(payload.size() < expected ? PanamaError::truncated : PanamaError::oversized);
  }
  if (!is_intact(*header, payload)) {
    return fail(PanamaError::crc);
  }
  view.payload = payload;
  view.error = PanamaError::none;
  return view;
}

bool is_intact(const PanamaHeader& header, Bytes payload) {
  const Crc32Pair said{header.crc.value(), header.payload_crc.value()};
  return crc32_pair(covered(header), payload) == said;
}

void seal(PanamaHeader& header, Bytes payload) {
  header.payload_crc = crc32(0, payload);
  reseal(header);
}

void reseal(PanamaHeader& header) {
  header.crc = crc32(0, covered(header));
}

}  // namespace tributary::wire
