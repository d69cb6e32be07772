// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ip_address.h"

namespace tributary::traffic {

// A Claim is what a message of ARP (RFC 826) or neighbour discovery (RFC 4861) says: somebody has
// an address, and may ask who has another one.
struct Claim {
  bool asks = false;
  wire::IpAddress who;   // unspecified: it asks before it takes an address (RFC 4862, 5.4)
  wire::MacAddress mac;  // of `who`
  wire::IpAddress whom;  // it asks for, or tells
};

// Returns whether the packet is of ARP, or a solicitation or advertisement of a neighbour.
bool is_claim(const Packet& packet);
// Precondition: is_claim(). No value: something in it is wrong, or it names no MAC address.
std::optional<Claim> read_claim(const Packet& packet);

// These write an empty packet. The version of IP is that of the addresses.
// Tells all of a link, bridges included, who has an address (RFC 5227; RFC 4861, 7.2.6).
void write_announcement(Packet& packet, const wire::IpAddress& who, const wire::MacAddress& mac);
void write_question(Packet& packet, const wire::IpAddress& who, const wire::MacAddress& mac,
                    const wire::IpAddress& whom);
// Makes the packet that asked the answer to it: `mac` has the address.
void write_answer(Packet& packet, const Claim& question, const wire::MacAddress& mac);

}  // namespace tributary::traffic
