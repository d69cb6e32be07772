// SPDX-License-Identifier: BSD-3-Clause
#include "host/call_check.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/handlers.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using wire::ElementType;
using wire::Operator;

class SparseCheck : public testing::Test {
 protected:
  std::string complaint(std::vector<std::uint32_t> indices, std::size_t count = 10,
                        Operator op = Operator::sum, ElementType type = ElementType::f64) {
    const std::vector<std::byte> values(indices.size() * sizeof(double) + 1);
    const auto checked = check(SparseBuffers{indices, values.data(), count, type, op});
    if (!checked) {
      EXPECT_EQ(checked.error().code, Error::Code::invalid_argument);
    }
    return checked ? "" : checked.error().message;
  }
};

TEST_F(SparseCheck, IncreasingIndicesWithinTheVectorAreTaken) {
  EXPECT_EQ(complaint({}), "");
  EXPECT_EQ(complaint({0, 1, 9}), "");
  EXPECT_EQ(complaint({}, 0), "");
}

TEST_F(SparseCheck, IndicesBeyondTheVectorAreNamed) {
  EXPECT_THAT(complaint({0, 10}), HasSubstr("index 10 is beyond the 10 elements"));
  EXPECT_THAT(complaint({0}, 0), HasSubstr("index 0 is beyond the 0 elements"));
}

TEST_F(SparseCheck, IndicesThatDoNotIncreaseAreNamed) {
  EXPECT_THAT(complaint({3, 3}), HasSubstr("index 3 comes behind 3"));
  EXPECT_THAT(complaint({0, 7, 4}), HasSubstr("index 4 comes behind 7"));
  EXPECT_THAT(complaint({0, 7, 4}), HasSubstr("sort them"));
}

TEST_F(SparseCheck, OnlySumsAreTaken) {
  EXPECT_THAT(complaint({1}, 10, Operator::max), HasSubstr("has no operator max: give it sum"));
  EXPECT_THAT(complaint({1}, 10, Operator::bit_or, ElementType::i8), HasSubstr("no operator or"));
  EXPECT_THAT(complaint({1}, 10, static_cast<Operator>(199)), HasSubstr("must be known ones"));
  EXPECT_THAT(complaint({1}, 10, Operator::sum, static_cast<ElementType>(99)),
              HasSubstr("must be known ones"));
}

TEST_F(SparseCheck, IndicesHaveFourBytes) {
  EXPECT_EQ(complaint({0xfffffffe}, 0xffffffff), "");
  EXPECT_THAT(complaint({0}, 0x100000000), HasSubstr("split the vector"));
}

TEST_F(SparseCheck, ValuesAreThere) {
  const std::vector<std::uint32_t> indices = {2};
  EXPECT_FALSE(check(SparseBuffers{indices, nullptr, 10, ElementType::f32, Operator::sum}));
  EXPECT_TRUE(check(SparseBuffers{{}, nullptr, 10, ElementType::f32, Operator::sum}));
}

class HandlerCheck : public testing::Test {
 protected:
  static std::string complaint(Collective collective, ElementType type, unsigned number,
                               bool reproducible = false) {
    std::vector<std::byte> data(16);
    const Call call{
        collective, {data.data(), data.data(), 1, type, wire::handler_operator(number)}, 0};
    CommunicatorOptions options;
    options.world_size = 2;
    options.reproducible = reproducible;
    const auto checked = check(call, options);
    if (!checked) {
      EXPECT_EQ(checked.error().code, Error::Code::invalid_argument);
    }
    return checked ? "" : checked.error().message;
  }

  tributary::test::LoadedHandler loaded_{5, std::make_unique<tributary::test::OneLess>()};
};

TEST_F(HandlerCheck, WhatIsLoadedIsTaken) {
  EXPECT_EQ(complaint(Collective::allreduce, ElementType::i32, 5), "");
  EXPECT_EQ(complaint(Collective::reduce, ElementType::i32, 5), "");
}

TEST_F(HandlerCheck, WhatIsNotLoadedIsNamed) {
  EXPECT_THAT(complaint(Collective::allreduce, ElementType::i32, 6),
              HasSubstr("no handler 6 for elements of type i32: load it with load_handler(6"));
  EXPECT_THAT(complaint(Collective::reduce, ElementType::f32, 5),
              HasSubstr("no handler 5 for elements of type f32"));
}

TEST_F(HandlerCheck, WhatIsReproducibleHasNone) {
  EXPECT_THAT(complaint(Collective::allreduce, ElementType::i32, 5, true),
              HasSubstr("make another communicator"));
}

TEST_F(HandlerCheck, ABroadcastNeedsNone) {
  EXPECT_EQ(complaint(Collective::broadcast, ElementType::opaque16, 0), "");
}

}  // namespace
}  // namespace tributary::host::test
