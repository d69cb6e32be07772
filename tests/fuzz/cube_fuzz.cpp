// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "host/cube/frames.h"
#include "host/cube/layout.h"
#include "host/cube/schedule.h"
#include "host/object_bytes.h"
#include "input.h"

// What neighbours send to a rank with two interfaces, in whatever pieces: it may be anything.
// Nothing may be written but to the vector and what is staged (AddressSanitizer sees to that), and
// who has sent what is no part of the collective is told so.
namespace {

using namespace tributary;
using namespace tributary::host;

constexpr std::uint32_t ranks = 4;
constexpr std::uint32_t interfaces = 2;

// Headers that fit, often: few inputs would have one.
void write_header(fuzz::Input& input, const CubeSchedule& schedule, std::size_t stream,
                  std::vector<std::byte>& to) {
  CubeFrame frame;
  frame.kind = static_cast<CubeFrame::Kind>(input.next() % 5);
  frame.code = input.next();
  const auto left = schedule.bytes_expected(stream) - schedule.bytes_received(stream);
  switch (input.next() % 3) {
    case 0:
      frame.bytes = static_cast<std::uint32_t>(input.next() << 16 | input.next());
      break;
    case 1:
      frame.bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, input.next() * 4u));
      break;
    default:
      frame.bytes = RingAnnouncement::common_bytes;
  }
  std::ranges::copy(bytes_of(frame), std::back_inserter(to));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::Input input({data, size});
  std::vector<std::byte> vector((1u + input.next()) * 4);
  const Buffers buffers{vector.data(), vector.data(), vector.size() / 4, wire::ElementType::i32,
                        wire::Operator::sum};
  const auto layout =
      *CubeLayout::of(CubeLayout::Kind::bcube, input.next() % ranks, ranks, interfaces);
  CubeSchedule schedule(buffers, layout, 1u + input.next() % 3);
  const auto mine = RingAnnouncement::of(RingAnnouncement::Kind::allreduce, buffers, 0);
  std::array<CubeHeader, interfaces> headers;
  std::vector<CubeReader> readers;
  for (std::size_t stream = 0; stream < interfaces; ++stream) {
    readers.emplace_back(schedule, stream, mine, headers[stream]);
  }
  while (!input.empty()) {
    const std::size_t stream = input.next() % interfaces;
    std::vector<std::byte> bytes;
    switch (input.next() % 3) {
      case 0:
        write_header(input, schedule, stream, bytes);
        break;
      case 1:
        std::ranges::copy(mine.bytes(), std::back_inserter(bytes));
        break;
      default:
        bytes.assign(input.next(), std::byte{input.next()});
    }
    for (std::size_t at = 0; at < bytes.size();) {
      const auto room = readers[stream].receivable();
      const auto n = std::min({room.size(), bytes.size() - at, std::size_t{1} + input.next()});
      if (n == 0) {
        assert(readers[stream].has_all());
        return 0;
      }
      std::memcpy(room.data(), bytes.data() + at, n);
      at += n;
      if (const auto taken = readers[stream].received(n, "rank 1"); !taken) {
        assert(!taken.error().message.empty() ||
               headers[stream].frame.kind == CubeFrame::Kind::failure);
        return 0;
      }
    }
  }
  assert(schedule.bytes_received(0) <= schedule.bytes_expected(0));
  return 0;
}
