// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/error.h"
#include "protocols/netreduce/wire.h"
#include "wire/cursor.h"
#include "wire/ip_address.h"
#include "wire/roce.h"

namespace tributary::host {

// Neighbours have to know this of one rank to connect to it.
struct LinkEnd {
  std::uint32_t send_qp = 0;     // of the connection to the next rank; 24 bits
  std::uint32_t receive_qp = 0;  // of the one from the rank before; 24 bits
  std::uint32_t first_psn = 0;   // of what it sends; 24 bits
  std::uint32_t key = 0;         // rkey of its receive slots
  std::uint64_t memory = 0;      // where they begin
  bool device = false;           // of RDMA; otherwise an endpoint in software
};

// This is a rank to which another one is connected.
struct LinkNeighbour {
  wire::IpAddress address;
  LinkEnd end;
};

// Tells how one rank is connected in the ring.
struct LinkPlan {
  LinkEnd mine;
  LinkNeighbour next;
  LinkNeighbour before;
};

// Returns where the rank's sequence numbers begin in a run: so far from those of the runs before
// that nothing of theirs is expected any more, nor ahead of what is.
constexpr std::uint32_t first_psn_of(const LinkEnd& end, std::uint32_t run) {
  return wire::psn_add(end.first_psn, run * wire::psns_between_runs);
}

// These are one rank's two Reliable Connections of a ring: to the next rank, and from the one
// before. Each has memory for 2N messages of fixed length, where message m has slot m modulo 2N.
//
// An implementation tells whoever drives it, in order, that a message of the rank before lies in
// its slot, and that a message was acknowledged.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  // Returns where a message is assembled. The message stays unchanged until it is acknowledged.
  virtual wire::MutableBytes send_slot(std::uint32_t slot) = 0;
  // Returns where the RDMA WRITEs of the rank before land.
  virtual wire::Bytes received_slot(std::uint32_t slot) = 0;
  // Posts one RDMA WRITE of so many bytes from the slot of `message` into the next rank's, with the
  // number of the message as immediate. Messages are posted in order.
  virtual Result<void> post(std::uint32_t message, std::uint32_t bytes) = 0;
};

}  // namespace tributary::host
