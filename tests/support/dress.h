// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "packet/packet.h"
#include "wire/embedding_prefix.h"

namespace tributary::test {

// Tests make and read frames of IPv4 without a tag. A Dress says what such a frame has on a cable.
struct Dress {
  std::optional<std::uint16_t> tag;             // the control field of the tag of its VLAN
  std::optional<wire::EmbeddingPrefix> prefix;  // it is of IPv6, and embeds the addresses of IPv4
};

// Puts a tag on, and gives what is IPv4 a header of IPv6, as far as the dress has them.
void put_on(Packet& frame, const Dress& dress);
// Takes off what put_on() puts on, and returns it.
Dress take_off(Packet& frame);

}  // namespace tributary::test
