// SPDX-License-Identifier: BSD-3-Clause
// Tests sums of handlers: which are accepted, and the errors of ranks for the others.
#include "support/handlers.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model_network.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr unsigned number = 5;
constexpr std::size_t count = 100;

class FlareHostHandlers : public testing::Test {
 protected:
  // Rank r contributes r everywhere.
  void run() {
    for (std::uint32_t rank = 0; rank < model_.size(); ++rank) {
      vectors_.emplace_back(count, static_cast<std::int32_t>(rank));
    }
    for (std::uint32_t rank = 0; rank < model_.size(); ++rank) {
      auto* const data = std::as_writable_bytes(std::span(vectors_[rank])).data();
      const Call call{Collective::allreduce,
                      {data, data, count, wire::ElementType::i32, wire::handler_operator(number)},
                      0};
      model_[rank].begin(call, model_.now, {never, 10s});
    }
    model_.run();
  }

  tributary::test::LoadedHandler loaded_{number, std::make_unique<tributary::test::OneLess>()};
  FlareModel model_{FlareModel::Options{.ranks = 3}};
  std::vector<std::vector<std::int32_t>> vectors_;
};

TEST_F(FlareHostHandlers, WhatTheSameHandlerMadeIsBelieved) {
  run();
  for (std::uint32_t rank = 0; rank < model_.size(); ++rank) {
    EXPECT_FALSE(model_[rank].failure()) << model_[rank].failure()->message;
    EXPECT_EQ(vectors_[rank], std::vector<std::int32_t>(count, 0 + 1 + 2 - 2));
  }
}

TEST_F(FlareHostHandlers, WhatAnotherHandlerMadeIsNot) {
  model_.tree.other_mark = 2;
  run();
  for (std::uint32_t rank = 0; rank < model_.size(); ++rank) {
    ASSERT_TRUE(model_[rank].failure());
    EXPECT_EQ(model_[rank].failure()->code, Error::Code::timeout);
    EXPECT_THAT(model_[rank].failure()->message, HasSubstr("different handlers under number 5"));
    EXPECT_NE(model_[rank].statistics().fingerprint_rejections, 0u);
  }
}

}  // namespace
}  // namespace tributary::host::test
