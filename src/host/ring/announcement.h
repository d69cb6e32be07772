// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "host/call.h"
#include "host/error.h"
#include "host/object_bytes.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/endian.h"

namespace tributary::host {

// Goes before the data of every collective of the hosts, so that ranks that disagree find out.
struct [[gnu::packed]] RingAnnouncement {
  enum class Kind : std::uint8_t {
    allreduce = 1,
    barrier = 2,
    reduce = 3,
    broadcast = 4,
    sparse_allreduce = 5,
    final_barrier = 6,
  };

  wire::be32 sequence;
  Kind kind = Kind::barrier;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint8_t reserved = 0;
  wire::be64 count;  // elements
  wire::be32 root;
  // The mark of the handler that is to combine the elements; it is not sent for other operators.
  wire::be64 mark;

  static constexpr std::size_t common_bytes = 20;
  bool has_mark() const { return kind != Kind::broadcast && wire::is_handler(op); }
  wire::Bytes bytes() const {
    static_assert(sizeof(RingAnnouncement) == common_bytes + sizeof mark);
    return bytes_of(*this).first(has_mark() ? sizeof *this : common_bytes);
  }

  static RingAnnouncement of(Kind kind, const Buffers& buffers, std::uint32_t root);
};

// Checks whether another rank has announced the same; `who` names it in the error. The first looks
// at the bytes that all announcements have, the second at the mark.
Result<void> agree(const RingAnnouncement& theirs, const RingAnnouncement& mine,
                   const std::string& who);
Result<void> agree_on_mark(const RingAnnouncement& theirs, const RingAnnouncement& mine,
                           const std::string& who);

}  // namespace tributary::host
