// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "fixture.h"
#include "support/reduction_samples.h"

namespace tributary::flare {
namespace {

using test::encode;
using test::expected;
using test::Pair;
using test::repeat;

// The buffers of the fixture have room for so many bytes.
constexpr std::size_t payload_bytes_max = 1600;

class FlareExactness : public FlareTest, public ::testing::WithParamInterface<Pair> {
 protected:
  // Rank n contributes n + 1; tests every order, at several lengths.
  void expect_exact(const TreeConfig& tree) {
    const auto [type, op] = GetParam();
    start({tree});
    std::uint64_t block = 0;
    for (const std::size_t count : {0u, 1u, 3u, 17u, 200u}) {
      if (count * wire::element_bytes(type) > payload_bytes_max) {
        continue;
      }
      PortIndex order[] = {0, 1, 2};
      do {
        std::vector<test::Sent> sent;
        for (const auto port : order) {
          auto spec = from(tree, port, block);
          spec.type = type;
          spec.op = op;
          sent = feed(spec, repeat(encode(type, port + 1), count));
        }
        ASSERT_EQ(sent.size(), 3u);
        for (const auto& copy : sent) {
          EXPECT_EQ(Seen(copy).elements<std::byte>(), repeat(encode(type, expected(op)), count));
        }
        ++block;
      } while (std::next_permutation(std::begin(order), std::end(order)));
    }
  }
};

TEST_P(FlareExactness, ThreeContributionsAreReducedOnASingleBuffer) {
  expect_exact(root_of(3));
}

TEST_P(FlareExactness, ThreeContributionsAreReducedInATree) {
  expect_exact(reproducible(root_of(3)));
}

INSTANTIATE_TEST_SUITE_P(ValidPairs, FlareExactness, ::testing::ValuesIn(test::valid_pairs()),
                         test::pair_name);

}  // namespace
}  // namespace tributary::flare
