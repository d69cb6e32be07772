// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/adder.h"

#include "incoming.h"

namespace tributary::panama {
namespace {

class AdderTest : public ::testing::Test {
 protected:
  template <typename T>
  void put(Tree& tree, std::uint8_t child, const std::vector<T>& elements,
           wire::ElementType type = wire::ElementType::i32) {
    auto spec = from(tree.config(), child);
    spec.type = type;
    auto packet = test::make_panama(pool_, spec, elements);
    auto& row = gathering_row(tree, 0, header_in(*packet));
    row.arrived |= std::uint64_t{1} << child;
    row.waiting[child] = std::move(packet);
  }
  template <typename T>
  static std::vector<T> elements_of(Packet& sum, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), elements_in(sum), count * sizeof(T));
    return values;
  }

  HeapPacketPool pool_{8, 2048};
  Adder adder_{pool_};
};

TEST_F(AdderTest, AddsInTheChildrensOrderWhatIsThere) {
  Tree tree(root_of(3), self, 4);
  auto& row = tree.row(0);
  put(tree, 2, Ints{100, 200});
  adder_.add_in_order(tree, row);
  EXPECT_EQ(row.next, 0) << "those before it are not there";
  put(tree, 0, Ints{1, 2});
  adder_.add_in_order(tree, row);
  EXPECT_EQ(row.next, 1);
  put(tree, 1, Ints{10, 20});
  adder_.add_in_order(tree, row);
  EXPECT_EQ(row.next, 3);
  EXPECT_EQ(pool_.outstanding(), 1u) << "only the accumulator is left";
  const auto sum = adder_.add_up(tree, row);
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(elements_of<std::int32_t>(*sum, 2), (Ints{111, 222}));
}

TEST_F(AdderTest, HalvesAreAddedAtTheEndAndRoundedOnce) {
  using Halves = std::vector<std::uint16_t>;
  Tree tree(root_of(3), self, 4);
  auto& row = tree.row(0);
  // 2048, 1 and 1: rounded in between, the sum would stay 2048.
  put(tree, 0, Halves{0x6800}, wire::ElementType::f16);
  put(tree, 1, Halves{0x3c00}, wire::ElementType::f16);
  put(tree, 2, Halves{0x3c00}, wire::ElementType::f16);
  adder_.add_in_order(tree, row);
  EXPECT_EQ(row.accumulator, nullptr);
  const auto sum = adder_.add_up(tree, row);
  ASSERT_NE(sum, nullptr);
  EXPECT_EQ(elements_of<std::uint16_t>(*sum, 1), Halves{0x6801});
}

TEST_F(AdderTest, WhatMayBeSentWithMoreStays) {
  auto config = leaf_of(2, 4);
  config.quorum = 3;
  Tree tree(config, self, 4);
  auto& row = tree.row(0);
  put(tree, 1, Ints{5});
  adder_.add_in_order(tree, row);
  EXPECT_EQ(elements_of<std::int32_t>(*adder_.add_up(tree, row), 1), Ints{5});
  put(tree, 0, Ints{6});
  EXPECT_EQ(elements_of<std::int32_t>(*adder_.add_up(tree, row), 1), Ints{11});
  EXPECT_NE(row.waiting[0], nullptr);
  std::vector<PacketPtr> all;
  while (auto other = pool_.allocate()) {
    all.push_back(std::move(other));
  }
  EXPECT_EQ(adder_.add_up(tree, row), nullptr) << "there is no packet for another sum";
}

}  // namespace
}  // namespace tributary::panama
