// SPDX-License-Identifier: BSD-3-Clause
// Tests what becomes of handlers that take too long, on a clock that only they move.
#include "reduce/handlers/budget.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reduce/handlers/mark.h"
#include "reduce/handlers/table.h"
#include "reduce/kernel.h"
#include "support/unload_handlers.h"

namespace tributary::reduce {
namespace {

using wire::ElementType;

constexpr std::uint64_t permitted_ns = handler_ns_per_kib_max;
constexpr int runs_until_surely_closed = 2000;  // one in 16 is measured

std::uint64_t now_ns = 0;

// Its runs take what a function says of the number of the run.
class Timed final : public Handler {
 public:
  using Cost = std::function<std::uint64_t(std::uint64_t run)>;
  explicit Timed(Cost cost) : cost_(std::move(cost)) {}
  void combine(void* /*accumulator*/, const void* /*elements*/, std::size_t /*n*/) const override {
    now_ns += cost_(runs_++);
  }
  ElementType type() const override { return ElementType::i8; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return 7; }
  bool is_native() const override { return false; }

 private:
  Cost cost_;
  std::string name_ = "timed";
  mutable std::uint64_t runs_ = 0;
};

Timed::Cost always(std::uint64_t ns) {
  return [ns](std::uint64_t) { return ns; };
}

class HandlerBudget : public testing::Test {
 protected:
  HandlerBudget() {
    measure_handlers([] { return now_ns; });
  }
  ~HandlerBudget() override { measure_handlers(nullptr); }

  static void load(unsigned number, Timed::Cost cost) {
    ASSERT_TRUE(handlers().load(number, std::make_unique<Timed>(std::move(cost))));
  }
  static bool is_open(unsigned number) {
    return find_kernel(ElementType::i8, wire::handler_operator(number)) != nullptr;
  }
  // Runs it as packet cores do, until it is closed; returns how often.
  int run(unsigned number, int runs = runs_until_surely_closed, std::size_t bytes = 1024) {
    const auto& kernel = reduce::kernel(ElementType::i8, wire::handler_operator(number));
    int done = 0;
    while (done < runs && is_open(number)) {
      kernel.accumulate(accumulator_.data(), elements_.data(), bytes);
      ++done;
    }
    return done;
  }
  static HandlerTable::Row row(unsigned number) {
    for (auto& row : handlers().list()) {
      if (row.number == number) {
        return row;
      }
    }
    return {};
  }

 private:
  test::UnloadHandlers unload_;
  std::vector<std::byte> accumulator_ = std::vector<std::byte>(16384);
  std::vector<std::byte> elements_ = std::vector<std::byte>(16384);
};

TEST_F(HandlerBudget, WhoKeepsItStaysOpen) {
  load(5, always(permitted_ns));
  EXPECT_EQ(row(5).ns_per_kib, 0u) << "nothing is known yet";
  EXPECT_EQ(run(5), runs_until_surely_closed);
  EXPECT_EQ(row(5).ns_per_kib, permitted_ns);
  EXPECT_FALSE(row(5).too_slow);
  EXPECT_FALSE(is_too_slow(wire::handler_operator(5)));
  EXPECT_EQ(mark_of(wire::handler_operator(5)), 7u);
}

TEST_F(HandlerBudget, WhoExceedsItIsClosedAfterThirtyTwoRuns) {
  load(5, always(permitted_ns + 1));
  EXPECT_EQ(run(5), 32);
  EXPECT_FALSE(is_open(5));
  EXPECT_TRUE(is_too_slow(wire::handler_operator(5)));
  EXPECT_EQ(mark_of(wire::handler_operator(5)), 0u) << "what is still combined is not believed";
  EXPECT_TRUE(row(5).too_slow);
  EXPECT_EQ(row(5).ns_per_kib, permitted_ns + 1);
}

TEST_F(HandlerBudget, OthersStayOpen) {
  load(5, always(permitted_ns * 100));
  load(6, always(100));
  run(5);
  EXPECT_FALSE(is_open(5));
  EXPECT_EQ(run(6), runs_until_surely_closed);
  EXPECT_FALSE(is_too_slow(wire::handler_operator(6)));
  EXPECT_FALSE(is_too_slow(wire::Operator::sum));
}

TEST_F(HandlerBudget, WhoBecomesSlowIsClosed) {
  load(5, [](std::uint64_t run) { return run < 10'000 ? 100 : permitted_ns * 2; });
  const auto runs = run(5, 10'000 + runs_until_surely_closed);
  EXPECT_GT(runs, 10'000);
  EXPECT_LT(runs, 10'000 + runs_until_surely_closed);
}

TEST_F(HandlerBudget, WhoIsInterruptedNowAndThenStaysOpen) {
  load(5, [](std::uint64_t run) { return run % 16 == 3 ? 10'000'000u : 1000u; });
  EXPECT_EQ(run(5, 100'000), 100'000);
}

TEST_F(HandlerBudget, IsForEachKib) {
  load(5, always(permitted_ns * 8));
  EXPECT_EQ(run(5, runs_until_surely_closed, 8192), runs_until_surely_closed);
  EXPECT_EQ(row(5).ns_per_kib, permitted_ns);
  load(6, always(permitted_ns * 8 + 8));
  run(6, runs_until_surely_closed, 8192);
  EXPECT_FALSE(is_open(6));
}

TEST_F(HandlerBudget, AFewElementsMayTakeThatOfAKib) {
  load(5, always(permitted_ns));
  EXPECT_EQ(run(5, runs_until_surely_closed, 1), runs_until_surely_closed);
  load(6, always(permitted_ns + 1));
  run(6, runs_until_surely_closed, 1);
  EXPECT_FALSE(is_open(6));
}

TEST_F(HandlerBudget, WithoutAClockNobodyIsMeasured) {
  measure_handlers(nullptr);
  load(5, always(permitted_ns * 100));
  EXPECT_EQ(run(5), runs_until_surely_closed);
  EXPECT_EQ(row(5).ns_per_kib, 0u);
}

TEST_F(HandlerBudget, TheNextHandlerUnderTheNumberBeginsAnew) {
  load(5, always(permitted_ns * 2));
  run(5);
  ASSERT_FALSE(is_open(5));
  ASSERT_TRUE(handlers().close(5));
  EXPECT_FALSE(is_too_slow(wire::handler_operator(5))) << "it is just being unloaded";
  ASSERT_NE(handlers().take(5), nullptr);
  EXPECT_FALSE(is_too_slow(wire::handler_operator(5))) << "there is none";
  load(5, always(100));
  EXPECT_TRUE(is_open(5));
  EXPECT_EQ(row(5).ns_per_kib, 0u);
  EXPECT_EQ(run(5), runs_until_surely_closed);
}

}  // namespace
}  // namespace tributary::reduce
