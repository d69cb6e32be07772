// SPDX-License-Identifier: BSD-3-Clause
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "forwarding/bfd_session.h"

namespace {

using namespace std::chrono_literals;
using tributary::Time;
using tributary::forwarding::BfdSession;
using tributary::wire::BfdHeader;
using tributary::wire::BfdState;

// What a session says must be what a neighbour accepts, and not more often than it may.
void drain(BfdSession& session, Time now) {
  [[maybe_unused]] int packets = 0;
  while (const auto packet = session.poll(now)) {
    assert(tributary::wire::parse_bfd(std::as_bytes(std::span(&*packet, 1))) != nullptr ||
           packet->your_discriminator.value() == 0);
    assert(!(packet->has(BfdHeader::poll) && packet->has(BfdHeader::final)));
    assert(++packets <= 2);
  }
}

}  // namespace

// Steps of one byte, and what they need behind it: 0 a packet (24 bytes), 1 a time in milliseconds,
// 2 other intervals, 3 the end of the session.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  BfdSession session({100ms, 3}, 1, 42);
  Time now = Time{} + 1000s;
  bool was_up = false;
  while (size >= 2) {
    const auto step = data[0] % 4;
    const auto value = data[1];
    ++data;
    --size;
    if (step == 0 && size >= sizeof(BfdHeader)) {
      if (const auto* header =
              tributary::wire::parse_bfd(std::as_bytes(std::span(data, sizeof(BfdHeader))))) {
        session.receive(*header, now);
      }
      data += sizeof(BfdHeader);
      size -= sizeof(BfdHeader);
    } else if (step == 1) {
      now += std::chrono::milliseconds(value);
    } else if (step == 2) {
      session.configure({std::chrono::milliseconds(10 + value), std::uint8_t(1 + value % 5)});
    } else if (step == 3 && value == 255) {
      session.disable();
    }
    was_up = was_up || session.state() == BfdState::up;
    session.expire(now);
    drain(session, now);
    assert(session.alive() || was_up);
    assert(session.alive() || session.state() != BfdState::up);
  }
  return 0;
}
