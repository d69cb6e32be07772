// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/c/tributary.h"
#include "reduce/handlers/table.h"
#include "world.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;

// Restores the number for other tests of this process.
class CHandlers : public testing::Test {
 protected:
  static constexpr unsigned number = 42;
  static constexpr auto op = static_cast<tributary_operator>(TRIBUTARY_HANDLER + number);
  ~CHandlers() override {
    reduce::handlers().close(number);
    reduce::handlers().take(number);
  }
};

TEST_F(CHandlers, AnExpressionIsAnOperatorFromThenOn) {
  ASSERT_EQ(tributary_handler_load(number, "acc = min(acc + in, 127);", TRIBUTARY_I8),
            TRIBUTARY_SUCCESS)
      << tributary_last_error();
  run_c_world(3, [](tributary_comm* comm) {
    std::vector<std::int8_t> values(5000, 60);
    ASSERT_EQ(
        tributary_allreduce(comm, values.data(), values.data(), values.size(), TRIBUTARY_I8, op),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    EXPECT_EQ(values, std::vector<std::int8_t>(5000, 127));
    std::int16_t other = 0;
    EXPECT_EQ(tributary_allreduce(comm, &other, &other, 1, TRIBUTARY_I16, op),
              TRIBUTARY_INVALID_ARGUMENT);
    EXPECT_THAT(tributary_last_error(), HasSubstr("no handler 42 for elements of type i16"));
  });
}

TEST_F(CHandlers, WhatCannotBeLoadedIsSaid) {
  EXPECT_EQ(tributary_handler_load(number, "acc = im;", TRIBUTARY_F32), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("there is no `im`"));
  EXPECT_EQ(tributary_handler_load(64, "acc = in;", TRIBUTARY_F32), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_handler_load(number, "acc = acc + in;", static_cast<tributary_type>(18)),
            TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("no element type 18"));
  EXPECT_EQ(tributary_handler_load(number, nullptr, TRIBUTARY_F32), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_EQ(tributary_handler_load_file(number, "/nowhere/handler.so"), TRIBUTARY_INVALID_ARGUMENT);
  EXPECT_THAT(tributary_last_error(), HasSubstr("/nowhere/handler.so"));
  EXPECT_EQ(tributary_handler_load_file(number, nullptr), TRIBUTARY_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace tributary::host::test
