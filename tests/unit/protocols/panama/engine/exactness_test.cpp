// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "support/reduction_samples.h"

namespace tributary::panama {
namespace {

using test::encode;
using test::expected;
using test::Pair;
using test::repeat;
using wire::ElementType;

class PanamaExactness : public PanamaTest, public ::testing::WithParamInterface<Pair> {};

// The buffers of the fixture have room for so many bytes.
constexpr std::size_t payload_bytes_max = 1600;

TEST_P(PanamaExactness, ThreeContributionsAreReducedAtEveryLengthInEveryOrder) {
  const auto [type, op] = GetParam();
  const auto tree = root_of(3);
  start({tree}, 64);
  std::uint32_t vid = 0;
  for (const std::size_t count : {0u, 1u, 3u, 17u, 200u}) {
    if (count * wire::element_bytes(type) > payload_bytes_max) {
      continue;
    }
    PortIndex order[] = {0, 1, 2};
    do {
      std::vector<test::Sent> sent;
      for (const auto port : order) {
        auto spec = from(tree, port, vid);
        spec.type = type;
        spec.op = op;
        sent = feed(spec, repeat(encode(type, port + 1), count));
      }
      ASSERT_EQ(sent.size(), 3u);
      for (const auto& copy : sent) {
        EXPECT_EQ(Seen(copy).elements<std::byte>(), repeat(encode(type, expected(op)), count));
      }
      ++vid;
    } while (std::next_permutation(std::begin(order), std::end(order)));
  }
}

INSTANTIATE_TEST_SUITE_P(ValidPairs, PanamaExactness, ::testing::ValuesIn(test::valid_pairs()),
                         test::pair_name);

class PanamaHalfPrecision : public PanamaTest {};

// 2048 + 1 rounds to 2048 in f16, twice; 2048 + 2 does not.
TEST_F(PanamaHalfPrecision, IsRoundedOnce) {
  const auto tree = root_of(3);
  start({tree});
  constexpr std::uint16_t values[] = {0x6800, 0x3c00, 0x3c00};
  std::vector<test::Sent> sent;
  for (PortIndex port = 0; port < 3; ++port) {
    auto spec = from(tree, port);
    spec.type = ElementType::f16;
    sent = feed(spec, std::vector<std::uint16_t>{values[port]});
  }
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(Seen(sent[0]).elements<std::uint16_t>(), std::vector<std::uint16_t>{0x6801});
}

}  // namespace
}  // namespace tributary::panama
