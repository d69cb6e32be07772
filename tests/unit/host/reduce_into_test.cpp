// SPDX-License-Identifier: BSD-3-Clause
#include "host/reduce_into.h"

#include <gtest/gtest.h>

#include "unit/host/values.h"

namespace tributary::host::test {
namespace {

// Vectors are longer than the part that is widened at a time, and end anywhere.
TEST(ReduceInto, AddsVectorsOfEveryLength) {
  using wire::Operator;
  for (const auto type :
       {wire::ElementType::f16, wire::ElementType::bf16, wire::ElementType::i16}) {
    for (const std::size_t count : {0, 1, 4095, 4096, 4097, 10000}) {
      auto target = input(0, count, type, Operator::sum);
      const auto source = input(1, count, type, Operator::sum);
      reduce_into(reduce::kernel(type, Operator::sum), wire::element_bytes(type), target.data(),
                  source.data(), count);
      EXPECT_EQ(wrong_elements(target, 2, count, type, Operator::sum), 0u) << count;
    }
  }
}

}  // namespace
}  // namespace tributary::host::test
