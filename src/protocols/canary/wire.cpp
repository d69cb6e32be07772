// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/wire.h"

#include <array>
#include <cstddef>

#include "wire/crc32_constants.h"

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

// Requests, failures and releases have nothing to say but their header.
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

// Results, restorations and releases go down the tree.
bool is_multicast(CanaryKind kind) {
  return kind == CanaryKind::result || kind == CanaryKind::restoration ||
         kind == CanaryKind::release;
}

bool is_well_formed(const CanaryHeader& header) {
  return is_known(header.kind) && is_valid(header.element_type, header.op) &&
         is_counter_possible(header) && is_length_possible(header) && header.unused == 0 &&
         header.multicast() == is_multicast(header.kind);
}

// Tells how the CRC of a header changes with one byte of it, by the bits that the byte changes in.
using CrcChanges = std::array<std::uint32_t, 256>;

constexpr std::uint32_t crc_change_of_bit(std::size_t at, unsigned bit) {
  std::uint32_t crc = 1u << bit;
  for (std::size_t steps = 8 * (offsetof(CanaryHeader, crc) - at); steps > 0; --steps) {
    crc = crc32_times_x(crc);
  }
  return crc;
}

constexpr CrcChanges crc_changes_at(std::size_t at) {
  CrcChanges changes{};
  for (unsigned bit = 0; bit < 8; ++bit) {
    const auto change = crc_change_of_bit(at, bit);
    for (unsigned bits = 0; bits < changes.size(); ++bits) {
      changes[bits] ^= (bits >> bit & 1) != 0 ? change : 0;
    }
  }
  return changes;
}

// Returns the changes of the CRC with the same change at both places.
constexpr CrcChanges crc_changes_at(std::size_t at, std::size_t and_at) {
  auto changes = crc_changes_at(at);
  const auto others = crc_changes_at(and_at);
  for (std::size_t bits = 0; bits < changes.size(); ++bits) {
    changes[bits] ^= others[bits];
  }
  return changes;
}

constexpr CrcChanges address_changes(std::size_t byte) {
  return crc_changes_at(offsetof(CanaryHeader, destination) + byte,
                        offsetof(CanaryHeader, child_address) + byte);
}
constexpr std::array<CrcChanges, 4> crc_changes_of_address = {
    address_changes(0), address_changes(1), address_changes(2), address_changes(3)};
constexpr std::array<CrcChanges, 2> crc_changes_of_port = {
    crc_changes_at(offsetof(CanaryHeader, child_port)),
    crc_changes_at(offsetof(CanaryHeader, child_port) + 1)};

}  // namespace

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
  if (!is_intact(*header, payload)) {
    return fail(CanaryError::crc);
  }
  view.payload = payload;
  view.error = CanaryError::none;
  return view;
}

void address_to_child(CanaryHeader& header, Ipv4Address address, std::uint16_t port) {
  const auto host = address.value();
  header.destination = address;
  header.child_address = address;
  header.child_port = port;
  header.crc = header.crc.value() ^ crc_changes_of_address[0][host >> 24] ^
               crc_changes_of_address[1][host >> 16 & 0xff] ^
               crc_changes_of_address[2][host >> 8 & 0xff] ^
               crc_changes_of_address[3][host & 0xff] ^ crc_changes_of_port[0][port >> 8] ^
               crc_changes_of_port[1][port & 0xff];
}

}  // namespace tributary::wire
