// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/announcement.h"

#include <cstring>

#include "reduce/handlers/mark.h"

namespace tributary::host {

RingAnnouncement RingAnnouncement::of(Kind kind, const Buffers& buffers, std::uint32_t root) {
  RingAnnouncement mine;
  mine.kind = kind;
  mine.type = buffers.type;
  mine.op = buffers.op;
  mine.count = buffers.count;
  mine.root = root;
  mine.mark = reduce::mark_of(buffers.op);
  return mine;
}

Result<void> agree(const RingAnnouncement& theirs, const RingAnnouncement& mine,
                   const std::string& who) {
  if (std::memcmp(&theirs, &mine, RingAnnouncement::common_bytes) == 0) {
    return {};
  }
  if (theirs.kind == RingAnnouncement::Kind::final_barrier) {
    return fail(Error::Code::network,
                who +
                    " has ended its communicator, which others still use; all ranks must call the "
                    "same collectives before they end");
  }
  return fail(
      Error::Code::mismatch,
      who + " is in another collective (its number " + std::to_string(theirs.sequence.value()) +
          " with " + std::to_string(theirs.count.value()) + " elements, here number " +
          std::to_string(mine.sequence.value()) + " with " + std::to_string(mine.count.value()) +
          "), or type, operator or root differ; all ranks must call the same");
}

Result<void> agree_on_mark(const RingAnnouncement& theirs, const RingAnnouncement& mine,
                           const std::string& who) {
  if (theirs.mark.value() == mine.mark.value()) {
    return {};
  }
  return fail(Error::Code::mismatch, who + " has another handler under number " +
                                         std::to_string(wire::handler_number(mine.op)) +
                                         " than this rank; load the same one on all ranks");
}

}  // namespace tributary::host
