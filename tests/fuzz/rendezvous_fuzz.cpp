// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "host/rendezvous/table.h"

// What strangers may tell rank 0, and what a stranger in rank 0's place may answer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tributary;
  using namespace tributary::host;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  RendezvousHello mine;
  mine.world_size = 3;
  mine.payload_bytes = 1408;
  mine.window = 64;
  mine.protocol = rendezvous_name("netreduce");

  RendezvousTable table(mine);
  wire::Cursor cursor(bytes);
  while (const auto* hello = cursor.take<RendezvousHello>()) {
    if (table.complete()) {
      break;
    }
    const auto complaint = table.add(*hello);
    assert(!complaint || !complaint->empty());
  }
  assert(table.complete() == table.missing().empty());
  if (table.complete()) {
    const auto answer = table.agreement(1, {});
    const auto body = wire::Bytes(answer).subspan(sizeof(RendezvousReply));
    const auto meeting = parse_agreement(body, mine);
    assert(meeting && meeting->job.world_size() == 3 && meeting->ring.size() == 3);
    assert(meeting->job.payload_bytes <= 1408 && meeting->job.window <= 64);
  }
  if (const auto meeting = parse_agreement(bytes, mine)) {
    assert(meeting->job.world_size() == 3);
    assert(meeting->job.payload_bytes % 32 == 0 && meeting->job.payload_bytes != 0);
  }
  return 0;
}
