// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>

#include "wire/crc32.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/parse_error.h"

// Sealed headers have two CRCs and are followed by nothing but their payload, which is elements and
// what a protocol has behind them: the last field, `crc`, is that of the fields before it, and
// `payload_crc` among them that of the payload.
namespace tributary::wire {

template <class Header>
concept SealedHeader = requires(Header header) {
  header.payload_crc.value();
  header.crc.value();
};

// Returns the part of the header that `crc` covers.
template <SealedHeader Header>
Bytes sealed_part(const Header& header) {
  static_assert(offsetof(Header, crc) + sizeof(header.crc) == sizeof(Header));
  return std::as_bytes(std::span(&header, 1)).first(offsetof(Header, crc));
}

// Returns whether a header that is well formed, and the payload behind it, came undamaged, by both
// CRCs.
template <SealedHeader Header>
bool is_intact(const Header& header, Bytes payload) {
  const Crc32Pair said{header.crc.value(), header.payload_crc.value()};
  return crc32_pair(sealed_part(header), payload) == said;
}

// Fills in the CRC of a header whose payload, and its CRC, stay as they are.
template <SealedHeader Header>
void reseal(Header& header) {
  header.crc = crc32(0, sealed_part(header));
}
// Fills in both CRCs.
template <SealedHeader Header>
void seal(Header& header, Bytes payload) {
  header.payload_crc = crc32(0, payload);
  reseal(header);
}

// Likewise, where the payload is two parts that do not lie behind each other yet.
template <SealedHeader Header>
void seal(Header& header, Bytes elements, Bytes behind) {
  header.payload_crc = crc32(crc32(0, elements), behind);
  reseal(header);
}

template <class View>
using HeaderOf = std::remove_pointer_t<decltype(View::header)>;

template <SealedHeader Header>
std::size_t elements_bytes(const Header& header) {
  return header.elements.value() * element_bytes(header.element_type);
}

// `bytes` is everything behind the UDP header, `payload_bytes` says how much of that is payload by
// a header that is well formed; the view's `error` tells what is wrong with it. What a protocol
// checks is a parameter of the template, to be inlined here.
template <class View, bool (*is_well_formed)(const HeaderOf<View>& header),
          std::size_t (*payload_bytes)(const HeaderOf<View>& header) = elements_bytes>
View parse_sealed(MutableBytes bytes) {
  MutableCursor cursor(bytes);
  View view;
  auto* header = cursor.take<HeaderOf<View>>();
  if (header == nullptr) {
    return view;
  }
  view.header = header;
  const auto fail = [&view](ParseError error) {
    view.error = error;
    return view;
  };
  if (header->version() != HeaderOf<View>::current_version) {
    return fail(ParseError::version);
  }
  if (!is_well_formed(*header)) {
    return fail(ParseError::malformed);
  }
  const std::size_t expected = payload_bytes(*header);
  const auto payload = cursor.rest();
  if (payload.size() != expected) {
    return fail(payload.size() < expected ? ParseError::truncated : ParseError::oversized);
  }
  if (!is_intact(*header, payload)) {
    return fail(ParseError::crc);
  }
  view.payload = payload;
  view.error = ParseError::none;
  return view;
}

}  // namespace tributary::wire
