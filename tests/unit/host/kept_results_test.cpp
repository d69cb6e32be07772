// SPDX-License-Identifier: BSD-3-Clause
#include "host/kept_results.h"

#include <vector>

#include <gtest/gtest.h>

#include "wire/endian.h"

namespace tributary::host {
namespace {

struct Header {
  wire::be16 elements;
  wire::ElementType element_type = wire::ElementType::i8;
  std::uint32_t mark = 0;
};

using Elements = std::vector<std::byte>;

class KeptResultsTest : public testing::Test {
 protected:
  static Header header(std::uint32_t mark, std::uint16_t elements = 3) {
    return {wire::be16{elements}, wire::ElementType::i8, mark};
  }
  // Returns the elements of that result, or one 0xff if it is not there.
  Elements found(std::uint64_t number) const {
    const auto result = kept_.find(number);
    return result ? Elements(result->payload.begin(), result->payload.end())
                  : Elements(1, std::byte{0xff});
  }

  static Elements absent() { return Elements(1, std::byte{0xff}); }

  KeptResults<Header> kept_{4, 8};
  Elements ones_ = Elements(3, std::byte{1});
  Elements twos_ = Elements(3, std::byte{2});
};

TEST_F(KeptResultsTest, ElementsStayWhereTheyAreUntilTheyAreSettled) {
  kept_.keep(6, header(6), ones_);
  kept_.keep_copy(7, header(7), ones_);
  ones_ = twos_;
  EXPECT_EQ(found(6), twos_);
  EXPECT_EQ(found(7), Elements(3, std::byte{1}));
  EXPECT_EQ(kept_.find(7)->header.mark, 7u);
  kept_.settle(6, 8);
  ones_.assign(3, std::byte{9});
  EXPECT_EQ(found(6), twos_);
  EXPECT_EQ(found(7), Elements(3, std::byte{1}));
}

TEST_F(KeptResultsTest, OnlyCopiesOutlastADrop) {
  kept_.keep(6, header(6), ones_);
  kept_.keep_copy(7, header(7), ones_);
  kept_.drop(0, 8);
  EXPECT_EQ(found(6), absent());
  EXPECT_EQ(found(7), ones_);
}

TEST_F(KeptResultsTest, WhatIsNotInTheRangeIsNotSettled) {
  kept_.keep(5, header(5), ones_);
  kept_.keep(6, header(6), ones_);
  kept_.settle(6, 8);
  kept_.drop(0, 8);
  EXPECT_EQ(found(5), absent());
  EXPECT_EQ(found(6), ones_);
}

TEST_F(KeptResultsTest, EachTakesThePlaceOfTheOneACapacityBeforeIt) {
  for (std::uint32_t number = 0; number < 6; ++number) {
    kept_.keep_copy(number, header(number), number < 5 ? ones_ : twos_);
  }
  EXPECT_EQ(found(1), absent());
  EXPECT_EQ(found(2), ones_);
  EXPECT_EQ(found(5), twos_);
  EXPECT_EQ(found(9), absent());
}

TEST_F(KeptResultsTest, NothingIsKeptAtFirst) {
  EXPECT_EQ(found(0), absent());
}

TEST_F(KeptResultsTest, WithoutElementsThereIsAResultAllTheSame) {
  kept_.keep(2, header(2, 0), {});
  kept_.drop(2, 3);
  ASSERT_TRUE(kept_.find(2));
  EXPECT_TRUE(kept_.find(2)->payload.empty());
}

TEST_F(KeptResultsTest, WhatWasKeptStaysWhenItGrows) {
  kept_.keep_copy(2, header(2), ones_);
  kept_.keep_copy(5, header(5), twos_);
  kept_.grow(16);
  EXPECT_EQ(kept_.capacity(), 16u);
  kept_.keep_copy(9, header(9), ones_);
  EXPECT_EQ(found(2), ones_);
  EXPECT_EQ(found(5), twos_);
  EXPECT_EQ(found(9), ones_);
}

}  // namespace
}  // namespace tributary::host
