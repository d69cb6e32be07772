// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/codepoint.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "wire/cursor.h"
#include "wire/endian.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::forwarding {
namespace {

struct CodepointName {
  std::string_view text;
  std::uint8_t value;
};
// The names are from RFC 2474, 2597, 3246, 5865 and 8622.
constexpr CodepointName codepoint_names[] = {
    {"cs0", 0},   {"le", 1},    {"cs1", 8},   {"af11", 10}, {"af12", 12}, {"af13", 14},
    {"cs2", 16},  {"af21", 18}, {"af22", 20}, {"af23", 22}, {"cs3", 24},  {"af31", 26},
    {"af32", 28}, {"af33", 30}, {"cs4", 32},  {"af41", 34}, {"af42", 36}, {"af43", 38},
    {"cs5", 40},  {"va", 44},   {"ef", 46},   {"cs6", 48},  {"cs7", 56},
};

}  // namespace

std::uint8_t codepoint_of(const Packet& frame) {
  constexpr std::uint8_t ecn_bits = 2;
  wire::Cursor cursor(frame.bytes());
  const auto type = wire::take_link_headers(cursor);
  const auto* words = cursor.take<wire::be16>();
  if (words == nullptr) {
    return 0;
  }
  if (type == wire::ethertype::ipv4) {
    return static_cast<std::uint8_t>((words->value() & 0xff) >> ecn_bits);
  }
  // In IPv6, the traffic class follows the four bits of the version.
  return type == wire::ethertype::ipv6
             ? static_cast<std::uint8_t>(((words->value() >> 4) & 0xff) >> ecn_bits)
             : std::uint8_t{0};
}

void trust_tag(Packet& frame) {
  const auto* header = wire::Cursor(frame.bytes()).take<wire::TaggedHeader>();
  const bool is_tagged =
      header != nullptr && header->ethernet.type.value() == wire::ethertype::vlan;
  frame.marking = marking_of_priority(
      is_tagged ? unsigned{header->tag.control.value()} >> wire::vlan_priority_shift : 0u);
}

std::string to_string(Codepoint codepoint) {
  const auto named =
      std::find_if(std::begin(codepoint_names), std::end(codepoint_names),
                   [&](const CodepointName& name) { return name.value == codepoint.value; });
  return named == std::end(codepoint_names) ? std::to_string(codepoint.value)
                                            : std::string(named->text);
}

std::optional<Codepoint> codepoint_named(std::string_view text) {
  const auto named = std::find_if(std::begin(codepoint_names), std::end(codepoint_names),
                                  [&](const CodepointName& name) { return name.text == text; });
  if (named != std::end(codepoint_names)) {
    return Codepoint{named->value};
  }
  unsigned number = codepoints;
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number >= codepoints) {
    return std::nullopt;
  }
  return Codepoint{static_cast<std::uint8_t>(number)};
}

}  // namespace tributary::forwarding
