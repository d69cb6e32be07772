// SPDX-License-Identifier: BSD-3-Clause
#include "host/handlers.h"

#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/handlers/table.h"
#include "reduce/kernel.h"

namespace tributary {
namespace {

using testing::HasSubstr;
using wire::ElementType;

// Restores the number for other tests of this process.
class LoadHandler : public testing::Test {
 protected:
  static constexpr unsigned number = 40;
  ~LoadHandler() override {
    reduce::handlers().close(number);
    reduce::handlers().take(number);
  }

  static std::string complaint(unsigned at, const HandlerSource& source) {
    const auto loaded = load_handler(at, source);
    if (!loaded) {
      EXPECT_EQ(loaded.error().code, Error::Code::invalid_argument);
    }
    return loaded ? "" : loaded.error().message;
  }
};

TEST_F(LoadHandler, AnExpressionCombinesFromThenOn) {
  const auto op = wire::handler_operator(number);
  EXPECT_EQ(reduce::find_kernel(ElementType::i8, op), nullptr);
  EXPECT_EQ(complaint(number, HandlerExpression{"acc = min(acc + in, 127);", ElementType::i8}), "");
  const auto* const kernel = reduce::find_kernel(ElementType::i8, op);
  ASSERT_NE(kernel, nullptr);
  std::vector<std::int8_t> sum{1, 100, -5};
  const std::vector<std::int8_t> next{2, 100, -6};
  kernel->accumulate(sum.data(), next.data(), sum.size());
  EXPECT_EQ(sum, (std::vector<std::int8_t>{3, 127, -11}));
}

TEST_F(LoadHandler, ANumberIsTakenOnce) {
  const HandlerExpression source{"acc = acc + in;", ElementType::f32};
  EXPECT_EQ(complaint(number, source), "");
  EXPECT_THAT(complaint(number, source), HasSubstr("taken"));
}

TEST_F(LoadHandler, WhatCannotBeLoadedIsNamed) {
  EXPECT_THAT(complaint(64, HandlerExpression{"acc = acc + in;", ElementType::f32}),
              HasSubstr("no handler 64"));
  EXPECT_THAT(complaint(number, HandlerExpression{"acc = im;", ElementType::f32}),
              HasSubstr("handler 40: "));
  EXPECT_THAT(complaint(number, HandlerFile{"/nowhere/handler.so"}), HasSubstr("handler 40: "));
  EXPECT_EQ(reduce::find_kernel(ElementType::f32, wire::handler_operator(number)), nullptr);
}

}  // namespace
}  // namespace tributary
