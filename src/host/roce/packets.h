// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "host/job.h"
#include "host/outbox.h"
#include "wire/cursor.h"
#include "wire/roce.h"

// A Reliable Connection of RoCEv2 in user space, as far as RDMA WRITE needs it. Only what is behind
// the UDP header is seen here; the ICRC covers the headers below, too. Of what this host sends they
// are known: see open_roce_socket().
namespace tributary::host::roce {

// One of the two ends of a connection.
struct Station {
  Endpoint endpoint;
  std::uint32_t qp = 0;
  // Tells whether its IPv4 headers have identifications, which a UDP socket is not told.
  bool numbers_packets = false;
};

struct Path {
  Station here;
  Station there;
};

// What follows a BTH depends on the opcode; the BTH's destination is the QP over there.
struct Sending {
  wire::BthHeader bth;
  const wire::RethHeader* reth = nullptr;
  const wire::AethHeader* aeth = nullptr;
  const wire::ImmediateHeader* immediate = nullptr;
  wire::Bytes payload;
};
// Puts the packet into the outbox, with its ICRC. Precondition: !outbox.full().
void send(Outbox& outbox, const Path& path, const Sending& sending);

// Sends a congestion notification packet (A17.9.3): the receiver of marked packets tells their
// sender.
void send_congestion_notification(Outbox& outbox, const Path& path);

// Tells whether the ICRC at the end of a packet from `source` is right.
bool has_right_icrc(wire::Bytes packet, const Endpoint& source, const Path& path);

// An acknowledgement, positive or negative.
struct Reply {
  std::uint32_t psn = 0;
  wire::AethHeader aeth;
};
std::optional<Reply> parse_reply(wire::Bytes packet);

inline constexpr auto congestion_notification = static_cast<wire::RoceOpcode>(0x81);

}  // namespace tributary::host::roce
