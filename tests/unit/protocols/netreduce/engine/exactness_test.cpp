// SPDX-License-Identifier: BSD-3-Clause
// Tests every element type under every operator, with packets in any order.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>
#include <vector>

#include "fixture.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "reduce/kernel.h"

namespace tributary::netreduce {
namespace {

using wire::ElementType;
using wire::Operator;

class NetReduceKinds : public NetReduceTest,
                       public testing::WithParamInterface<std::tuple<unsigned, unsigned>> {
 protected:
  ElementType type() const { return static_cast<ElementType>(std::get<0>(GetParam())); }
  Operator op() const { return static_cast<Operator>(std::get<1>(GetParam())); }

  test::GradientSpec spec_of(std::uint16_t rank) const {
    auto spec = gradient(rank);
    spec.type = type();
    spec.op = op();
    return spec;
  }

  // Some bits that are finite numbers in every format.
  std::vector<std::byte> payload_of(std::uint16_t rank) const {
    auto bytes = message_of(spec_of(rank));
    for (std::size_t at = sizeof(wire::InaHeader); at < bytes.size(); ++at) {
      bytes[at] = static_cast<std::byte>((at * 37 + rank * 101) & 0x3b);
    }
    return bytes;
  }

  // Returns the kernels' result for the elements of one packet, in the order of the ranks.
  std::vector<std::byte> reduced(std::uint32_t packet) const {
    const auto& kernel = reduce::kernel(type(), op());
    const auto bytes = wire::ina_payload_bytes(length, mtu, packet);
    const std::size_t header = packet == 0 ? sizeof(wire::InaHeader) : 0;
    const auto n = (bytes - header - 8) / wire::element_bytes(type());
    std::vector<std::byte> accumulator(n * kernel.accumulator_bytes);
    std::vector<std::byte> result(n * wire::element_bytes(type()));
    for (std::uint16_t rank = 0; rank < 3; ++rank) {
      const auto payload = payload_of(rank);
      const auto* from = payload.data() + packet * mtu + header;
      (rank == 0 ? kernel.load : kernel.accumulate)(accumulator.data(), from, n);
    }
    kernel.store(result.data(), accumulator.data(), n);
    return result;
  }
};

TEST_P(NetReduceKinds, are_reduced_in_the_order_of_the_ranks) {
  if (!wire::is_valid(type(), op())) {
    feed(make(spec_of(0), 0, 0x11, payload_of(0)));
    EXPECT_EQ(harness_.drops(drop::malformed), 1u);
    return;
  }
  std::vector<std::uint16_t> order(3);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  std::uint32_t packet = 0;
  do {
    for (const auto rank : order) {
      if (packet != 0 && packet < 4) {
        feed(make(spec_of(rank), 0, 0x11, payload_of(rank)));
      }
      sent_ = feed(make(spec_of(rank), packet % 4, 0x11, payload_of(rank)));
    }
    const auto wanted = reduced(packet % 4);
    ASSERT_FALSE(sent_.empty());
    for (const auto& sent : sent_) {
      EXPECT_TRUE(test::has_right_icrc(*sent.packet));
      const auto roce = test::roce_of(*sent.packet).payload;
      const auto payload = roce.subspan(packet % 4 == 0 ? sizeof(wire::InaHeader) : 0);
      EXPECT_EQ(std::memcmp(payload.data(), wanted.data(), wanted.size()), 0);
      // Where no further element fits.
      for (auto at = wanted.size(); at < payload.size() - wire::fingerprint_bytes; ++at) {
        EXPECT_EQ(payload[at], std::byte{0}) << at;
      }
    }
    ++packet;
  } while (std::next_permutation(order.begin(), order.end()));
}
INSTANTIATE_TEST_SUITE_P(All, NetReduceKinds,
                         testing::Combine(testing::Range(0u, unsigned{wire::element_type_count}),
                                          testing::Range(0u, unsigned{wire::operator_count})));

}  // namespace
}  // namespace tributary::netreduce
