// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/link_ends.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "wire/endian.h"
#include "wire/roce.h"

namespace tributary::host {
namespace {

struct [[gnu::packed]] EndOnWire {
  wire::be32 send_qp;
  wire::be32 receive_qp;
  wire::be32 first_psn;
  wire::be32 key;
  wire::be64 memory;
  std::uint8_t device = 0;
  std::uint8_t unused[3] = {};
};
static_assert(sizeof(EndOnWire) == sizeof(RendezvousEnd));

LinkEnd from_wire(const RendezvousEnd& bytes) {
  const auto end = std::bit_cast<EndOnWire>(bytes);
  return {end.send_qp.value(), end.receive_qp.value(), end.first_psn.value(),
          end.key.value(),     end.memory.value(),     end.device != 0};
}

}  // namespace

RendezvousEnd to_wire(const LinkEnd& end) {
  EndOnWire told;
  told.send_qp = end.send_qp;
  told.receive_qp = end.receive_qp;
  told.first_psn = end.first_psn;
  told.key = end.key;
  told.memory = end.memory;
  told.device = end.device ? 1 : 0;
  return std::bit_cast<RendezvousEnd>(told);
}

Result<LinkEnd> draw_link_end() {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  // Queue pairs 0 and 1 are for management, so they are never drawn.
  constexpr std::uint32_t first_qp = 2;
  const auto draw_qp = [] { return first_qp + randombytes_uniform(wire::psn_mask - first_qp); };
  LinkEnd end;
  end.send_qp = draw_qp();
  do {
    end.receive_qp = draw_qp();
  } while (end.receive_qp == end.send_qp);
  end.first_psn = randombytes_random() & wire::psn_mask;
  end.key = randombytes_random();
  return end;
}

LinkPlan link_plan_of(const Meeting& meeting, const LinkEnd& mine) {
  const auto& job = meeting.job;
  const auto world = job.world_size();
  const auto neighbour = [&](std::uint32_t rank) {
    return LinkNeighbour{job.peers[rank].ip(), from_wire(meeting.ends[rank])};
  };
  return {mine, neighbour((job.rank + 1) % world), neighbour((job.rank + world - 1) % world)};
}

bool is_mixed(const Meeting& meeting) {
  const auto& ends = meeting.ends;
  return std::any_of(ends.begin(), ends.end(), [&](const RendezvousEnd& end) {
    return from_wire(end).device != from_wire(ends.front()).device;
  });
}

}  // namespace tributary::host
