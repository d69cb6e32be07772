// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>

#include "packet/fate.h"
#include "protocols/list.h"
#include "wire/parse_error.h"

#define TRIBUTARY_DROP_NUMBER(reason, why) reason,
#define TRIBUTARY_DROP_TEXT(reason, why) {#reason, why},
#define TRIBUTARY_DROP_CONSTANT(reason, why)                 \
  inline constexpr DropReason reason = protocol_drop_reason( \
      static_cast<std::size_t>(row), static_cast<std::size_t>(Number::reason));

// Declares what a protocol drops packets for: in its namespace `drop` a constant for each reason of
// `list`, a macro like TRIBUTARY_DROP_REASONS, and their texts; operators see the names with
// the protocol's before them.
#define TRIBUTARY_PROTOCOL_DROP_REASONS(protocol, list)                                            \
  namespace drop {                                                                                 \
  inline constexpr auto row = protocols::Row::protocol;                                            \
  enum class Number : std::uint8_t { list(TRIBUTARY_DROP_NUMBER) };                                \
  list(TRIBUTARY_DROP_CONSTANT) inline constexpr DropText reasons[] = {list(TRIBUTARY_DROP_TEXT)}; \
  static_assert(std::size(reasons) <= drop_reasons_per_protocol);                                  \
  }

namespace tributary::protocols {

// Returns whether the first reasons are what parsers find wrong, in the same order.
constexpr bool begin_as_parse_errors(std::span<const DropText> reasons) {
  const std::span errors = std::span(wire::parse_error_names).subspan(1);  // without `none`
  return reasons.size() >= errors.size() &&
         std::equal(
             errors.begin(), errors.end(), reasons.begin(),
             [](std::string_view error, const DropText& reason) { return error == reason.name; });
}

// Returns why a packet is dropped that its parser refuses. The protocol's reasons must
// begin_as_parse_errors().
constexpr DropReason drop_reason_of(wire::ParseError error, Row row) {
  assert(error != wire::ParseError::none);
  return protocol_drop_reason(static_cast<std::size_t>(row), static_cast<std::size_t>(error) - 1);
}

}  // namespace tributary::protocols
