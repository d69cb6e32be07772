// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/wire.h"

namespace tributary::wire {

bool is_sound(const InaHeader& header, std::uint32_t mtu) {
  const auto length = header.length.value();
  // The last packet holds a fingerprint word and, if it is the first as well, the header.
  const auto tail = length % mtu;
  // Handlers are not for NetReduce, whose fingerprints have no marks.
  return header.version == InaHeader::current_version && is_valid(header.element_type, header.op) &&
         !is_handler(header.op) && header.rank.value() < header.world.value() &&
         length >= sizeof(InaHeader) + fingerprint_bytes && tail % ina_alignment == 0 &&
         header.packets.value() == ina_packets(length, mtu);
}

}  // namespace tributary::wire
