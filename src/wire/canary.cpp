// SPDX-License-Identifier: BSD-3-Clause
#include "wire/canary.h"

#include <array>
#include <cstddef>

#include "wire/checksum.h"

namespace tributary::wire {
namespace {

bool is_known(CanaryKind kind) {
  return kind >= CanaryKind::contribution && kind <= CanaryKind::release;
}

// Any sum misses at least the leader's own contribution, so a counter never reaches `hosts` before
// the result, where it equals it.
bool is_counter_possible(const CanaryHeader& header) {
  const auto counter = header.counter.value();
  const auto hosts = header.hosts.value();
  switch (header.kind) {
    case CanaryKind::contribution:
      return counter >= 1 && counter < hosts;
    case CanaryKind::result:
    case CanaryKind::restoration:
      return counter == hosts && hosts >= 2;
    case CanaryKind::pending:
      return counter < hosts && hosts >= 2;
    case CanaryKind::request:
    case CanaryKind::failure:
    case CanaryKind::release:
      return counter == 0 && hosts >= 2;
  }
  return false;
}

// These have nothing to say but their header.
bool is_length_possible(const CanaryHeader& header) {
  switch (header.kind) {
    case CanaryKind::request:
    case CanaryKind::failure:
    case CanaryKind::release:
      return header.elements.value() == 0;
    default:
      return true;
  }
}

// They go down the tree.
bool is_multicast(CanaryKind kind) {
  return kind == CanaryKind::result || kind == CanaryKind::restoration ||
         kind == CanaryKind::release;
}

bool is_well_formed(const CanaryHeader& header) {
  return is_known(header.kind) && is_valid(header.element_type, header.op) &&
         is_counter_possible(header) && is_length_possible(header) && header.unused == 0 &&
         header.multicast() == is_multicast(header.kind);
}

std::uint32_t crc_of(const CanaryHeader& header) {
  return crc32(0, std::as_bytes(std::span(&header, 1)).first(offsetof(CanaryHeader, crc)));
}

}  // namespace

std::string_view name(CanaryError error) {
  constexpr std::array<std::string_view, 6> names = {"none",    "truncated", "oversized",
                                                     "version", "malformed", "crc"};
  return names[static_cast<std::size_t>(error)];
}

CanaryView parse_canary(MutableBytes bytes, Encapsulation encapsulation) {
  MutableCursor cursor(bytes);
  CanaryView view;
  auto* header = cursor.take<CanaryHeader>();
  if (header == nullptr) {
    return view;
  }
  view.header = header;
  const auto fail = [&view](CanaryError error) {
    view.error = error;
    return view;
  };
  if (header->version() != CanaryHeader::current_version) {
    return fail(CanaryError::version);
  }
  if (!is_well_formed(*header)) {
    return fail(CanaryError::malformed);
  }
  const std::size_t expected = header->elements.value() * element_bytes(header->element_type);
  if (cursor.rest().size() < expected) {
    return fail(CanaryError::truncated);
  }
  if (cursor.rest().size() > expected && encapsulation == Encapsulation::udp) {
    return fail(CanaryError::oversized);
  }
  const auto payload = cursor.rest().first(expected);
  if (header->crc.value() != crc_of(*header) || header->payload_crc.value() != crc32(0, payload)) {
    return fail(CanaryError::crc);
  }
  view.payload = payload;
  view.error = CanaryError::none;
  return view;
}

void seal(CanaryHeader& header, Bytes payload) {
  header.payload_crc = crc32(0, payload);
  reseal(header);
}

void reseal(CanaryHeader& header) {
  header.crc = crc_of(header);
}

}  // namespace tributary::wire
