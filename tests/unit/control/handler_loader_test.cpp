// SPDX-License-Identifier: BSD-3-Clause
#include "control/handler_loader.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/handlers/budget.h"
#include "reduce/handlers/mark.h"
#include "reduce/kernel.h"
#include "support/unload_handlers.h"

namespace tributary::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using wire::ElementType;

constexpr std::string_view saturating = "acc = min(acc + in, 127)";

HandlerConfig expression(unsigned number, std::string_view text = saturating,
                         ElementType type = ElementType::i8) {
  HandlerConfig wanted;
  wanted.number = number;
  wanted.type = type;
  wanted.expression = text;
  return wanted;
}

bool is_found(unsigned number) {
  return reduce::find_kernel(ElementType::i8, wire::handler_operator(number)) != nullptr;
}

class HandlerLoaderTest : public testing::Test {
 protected:
  // Records what packet cores find of handler 7 at each quiescent point, and whether one of them is
  // late.
  HandlerLoader::Outcome wait_for_cores() {
    seen_.push_back(is_found(7) ? 'o' : is_in_table(7) ? 'c' : '-');
    if (points_until_late_ == 0) {
      return tl::make_unexpected(std::string("the packet core on CPU 3 did not answer"));
    }
    --points_until_late_;
    return {};
  }
  bool is_in_table(unsigned number) const {
    for (const auto& row : loader_.list()) {
      if (row.handler.number == number) {
        return true;
      }
    }
    return false;
  }
  std::vector<unsigned> numbers() const {
    std::vector<unsigned> all;
    for (const auto& row : loader_.list()) {
      all.push_back(row.handler.number);
    }
    return all;
  }

  tributary::test::UnloadHandlers unload_handlers_;
  int points_until_late_ = 1'000'000;
  std::string seen_;
  HandlerLoader loader_{{}, [this] { return wait_for_cores(); }};
};

TEST_F(HandlerLoaderTest, what_is_loaded_is_found_and_listed) {
  ASSERT_TRUE(loader_.load(expression(7)));
  EXPECT_TRUE(is_found(7));
  const auto rows = loader_.list();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].handler.number, 7u);
  EXPECT_EQ(rows[0].handler.name, saturating);
  EXPECT_FALSE(rows[0].is_of_file);
}

TEST_F(HandlerLoaderTest, what_is_wrong_with_an_expression_is_said) {
  const auto loaded = loader_.load(expression(7, "acc = im"));
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error(), HasSubstr("line 1, column 7"));
  EXPECT_THAT(numbers(), IsEmpty());
}

TEST_F(HandlerLoaderTest, loading_the_same_again_is_done_and_another_is_refused) {
  ASSERT_TRUE(loader_.load(expression(7)));
  EXPECT_TRUE(loader_.load(expression(7, "acc=min( acc+in,127 );")));
  for (const auto& other :
       {expression(7, "acc = max(acc, in)"), expression(7, saturating, ElementType::i16)}) {
    const auto refused = loader_.load(other);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error(), HasSubstr("`tributaryctl handler unload 7`"));
  }
  EXPECT_EQ(loader_.list()[0].handler.type, ElementType::i8);
}

TEST_F(HandlerLoaderTest, cores_pass_a_point_behind_the_closing_and_behind_the_taking) {
  ASSERT_TRUE(loader_.load(expression(7)));
  ASSERT_TRUE(loader_.unload(7));
  EXPECT_EQ(seen_, "c-");
  EXPECT_TRUE(loader_.load(expression(7, "acc = max(acc, in)")));
}

TEST_F(HandlerLoaderTest, unloading_what_is_not_there_asks_no_core) {
  EXPECT_TRUE(loader_.unload(7));
  EXPECT_TRUE(loader_.unload(64));
  EXPECT_EQ(seen_, "");
}

TEST_F(HandlerLoaderTest, with_a_late_core_it_stays_closed_and_can_be_unloaded_again) {
  ASSERT_TRUE(loader_.load(expression(7)));
  points_until_late_ = 0;
  const auto unloaded = loader_.unload(7);
  ASSERT_FALSE(unloaded);
  EXPECT_THAT(unloaded.error(), HasSubstr("handler 7"));
  EXPECT_THAT(unloaded.error(), HasSubstr("CPU 3"));
  EXPECT_TRUE(loader_.list()[0].handler.closed);
  EXPECT_FALSE(is_found(7));
  EXPECT_EQ(reduce::mark_of(wire::handler_operator(7)), 0u);
  EXPECT_FALSE(loader_.load(expression(7))) << "the same, but it is closed";
  points_until_late_ = 2;
  EXPECT_TRUE(loader_.unload(7));
  EXPECT_THAT(numbers(), IsEmpty());
}

TEST_F(HandlerLoaderTest, a_core_that_is_late_behind_the_taking_holds_up_nobody) {
  ASSERT_TRUE(loader_.load(expression(7)));
  points_until_late_ = 1;
  EXPECT_TRUE(loader_.unload(7));
  EXPECT_TRUE(loader_.load(expression(7)));
  points_until_late_ = 2;
  EXPECT_TRUE(loader_.unload(7));
  EXPECT_EQ(seen_, "c-c-");
}

TEST_F(HandlerLoaderTest, a_thousand_times) {
  for (unsigned i = 0; i < 1000; ++i) {
    ASSERT_TRUE(loader_.load(expression(7, "acc = acc + " + std::to_string(i % 100) + " + in")));
    ASSERT_TRUE(loader_.unload(7));
  }
  EXPECT_THAT(numbers(), IsEmpty());
}

TEST_F(HandlerLoaderTest, a_file_loads_what_it_names_and_unloads_what_it_named) {
  ASSERT_TRUE(loader_.apply({expression(1), expression(2)}));
  EXPECT_TRUE(loader_.list()[0].is_of_file);
  ASSERT_TRUE(loader_.load(expression(3)));
  ASSERT_TRUE(loader_.apply({expression(2), expression(4)}));
  EXPECT_THAT(numbers(), ElementsAre(2, 3, 4)) << "3 was loaded by hand";
}

TEST_F(HandlerLoaderTest, a_file_replaces_what_it_changes_and_leaves_the_rest_alone) {
  ASSERT_TRUE(loader_.apply({expression(6), expression(7)}));
  ASSERT_TRUE(loader_.apply({expression(6), expression(7)}));
  EXPECT_EQ(seen_, "") << "nothing differs";
  const auto before = reduce::mark_of(wire::handler_operator(7));
  ASSERT_TRUE(loader_.apply({expression(6), expression(7, "acc = max(acc, in)")}));
  EXPECT_EQ(seen_, "c-");
  EXPECT_TRUE(is_found(7));
  EXPECT_NE(reduce::mark_of(wire::handler_operator(7)), before);
}

TEST_F(HandlerLoaderTest, a_file_takes_nobodys_number) {
  ASSERT_TRUE(loader_.load(expression(7)));
  const std::vector<HandlerConfig> other{expression(1), expression(7, "acc = max(acc, in)")};
  EXPECT_FALSE(loader_.check(other));
  EXPECT_FALSE(loader_.apply(other));
  EXPECT_THAT(numbers(), ElementsAre(7)) << "all of it or nothing";
  ASSERT_TRUE(loader_.apply({expression(7)}));
  EXPECT_TRUE(loader_.list()[0].is_of_file) << "it agrees, and belongs to the file now";
}

TEST_F(HandlerLoaderTest, a_file_that_is_wrong_changes_nothing) {
  ASSERT_TRUE(loader_.apply({expression(1)}));
  HandlerConfig native;
  native.number = 9;
  native.file = "sum.so";
  const auto applied = loader_.apply({expression(2), native});
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error(), HasSubstr("handler 9: "));
  EXPECT_THAT(applied.error(), HasSubstr("handler_directory"));
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(HandlerLoaderTest, a_file_loads_again_what_was_unloaded_by_hand) {
  ASSERT_TRUE(loader_.apply({expression(7)}));
  ASSERT_TRUE(loader_.unload(7));
  ASSERT_TRUE(loader_.load(expression(7, "acc = max(acc, in)")));
  EXPECT_FALSE(loader_.apply({expression(7)})) << "what is there now is not the file's";
  ASSERT_TRUE(loader_.unload(7));
  ASSERT_TRUE(loader_.apply({expression(7)}));
  EXPECT_TRUE(is_found(7));
}

TEST_F(HandlerLoaderTest, a_check_tells_what_would_be_loaded) {
  const std::vector<HandlerConfig> file{expression(6), expression(7)};
  ASSERT_TRUE(loader_.apply(file));
  EXPECT_THAT(*loader_.check(file), IsEmpty());
  const auto before = mark_text(reduce::mark_of(wire::handler_operator(7)));
  const auto other = loader_.check({expression(6), expression(7, "acc = max(acc, in)")});
  ASSERT_EQ(other->size(), 1u);
  EXPECT_EQ(other->front().setting, "handler 7");
  EXPECT_EQ(other->front().before, before);
  EXPECT_THAT(other->front().after, HasSubstr("0x"));
  EXPECT_NE(other->front().after, before);
  ASSERT_TRUE(loader_.unload(7));
  const auto again = loader_.check(file);
  ASSERT_EQ(again->size(), 1u) << "somebody unloaded it by hand";
  EXPECT_EQ(to_string(again->front()), "+ handler 7: " + before);
}

TEST_F(HandlerLoaderTest, a_file_that_names_a_number_twice_changes_nothing) {
  ASSERT_TRUE(loader_.apply({expression(1)}));
  const std::vector<HandlerConfig> twice{expression(2), expression(3),
                                         expression(3, "acc = max(acc, in)")};
  EXPECT_FALSE(loader_.check(twice));
  const auto applied = loader_.apply(twice);
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error(), HasSubstr("handler 3 is given twice"));
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(HandlerLoaderTest, a_reload_that_meets_a_late_core_changes_nothing) {
  ASSERT_TRUE(loader_.apply({expression(6), expression(7)}));
  const auto mark = reduce::mark_of(wire::handler_operator(7));
  points_until_late_ = 0;
  const auto applied = loader_.apply({expression(8)});
  ASSERT_FALSE(applied);
  EXPECT_THAT(applied.error(), HasSubstr("handler 6, handler 7; "));
  EXPECT_THAT(applied.error(), HasSubstr("CPU 3"));
  EXPECT_THAT(numbers(), ElementsAre(6, 7));
  EXPECT_TRUE(is_found(6));
  EXPECT_TRUE(is_found(7));
  EXPECT_EQ(reduce::mark_of(wire::handler_operator(7)), mark);
  points_until_late_ = 2;
  EXPECT_TRUE(loader_.apply({expression(8)})) << "it can be said again";
  EXPECT_THAT(numbers(), ElementsAre(8));
}

TEST_F(HandlerLoaderTest, a_reload_that_meets_a_late_core_opens_nothing_that_was_closed_by_hand) {
  ASSERT_TRUE(loader_.apply({expression(6), expression(7)}));
  points_until_late_ = 0;
  ASSERT_FALSE(loader_.unload(7));
  ASSERT_FALSE(loader_.apply({}));
  EXPECT_TRUE(is_found(6));
  EXPECT_FALSE(is_found(7));
}

// Its handlers take a second for each run.
class SlowHandlerTest : public HandlerLoaderTest {
 protected:
  SlowHandlerTest() {
    reduce::measure_handlers([] { return now_ns += 1'000'000'000; });
  }
  ~SlowHandlerTest() override { reduce::measure_handlers(nullptr); }

  void run_until_it_is_closed() {
    const auto& kernel = reduce::kernel(ElementType::i8, wire::handler_operator(7));
    for (int i = 0; i < 32; ++i) {
      kernel.accumulate(accumulator_, elements_, sizeof elements_);
    }
    ASSERT_FALSE(is_found(7));
    ASSERT_TRUE(loader_.list()[0].handler.too_slow);
  }

 private:
  static inline std::uint64_t now_ns = 0;
  std::int8_t accumulator_[16] = {};
  std::int8_t elements_[16] = {};
};

TEST_F(SlowHandlerTest, each_closing_is_told_once) {
  ASSERT_TRUE(loader_.load(expression(7)));
  EXPECT_THAT(loader_.newly_slow(), IsEmpty());
  for (int i = 0; i < 2; ++i) {
    run_until_it_is_closed();
    EXPECT_THAT(loader_.newly_slow(),
                ElementsAre("handler 7 was closed, as it takes 80000 ns for a KiB, and 20000 are "
                            "permitted: acc = min(acc + in, 127); packets that name it are "
                            "dropped (handler_too_slow) until it is loaded again"));
    EXPECT_THAT(loader_.newly_slow(), IsEmpty());
    ASSERT_TRUE(loader_.load(expression(7)));
  }
}

TEST_F(SlowHandlerTest, loading_it_again_opens_it_anew_behind_the_cores) {
  ASSERT_TRUE(loader_.load(expression(7)));
  run_until_it_is_closed();
  ASSERT_TRUE(loader_.load(expression(7)));
  EXPECT_EQ(seen_, "c-");
  EXPECT_TRUE(is_found(7));
  EXPECT_FALSE(loader_.list()[0].handler.too_slow);
  EXPECT_EQ(loader_.list()[0].handler.ns_per_kib, 0u);
}

TEST_F(SlowHandlerTest, another_one_needs_its_unloading) {
  ASSERT_TRUE(loader_.load(expression(7)));
  run_until_it_is_closed();
  const auto refused = loader_.load(expression(7, "acc = max(acc, in)"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("handler 7 was closed, as it is too slow: acc = min("));
  ASSERT_TRUE(loader_.unload(7));
  EXPECT_TRUE(loader_.load(expression(7, "acc = max(acc, in)")));
}

TEST_F(SlowHandlerTest, a_reload_that_names_it_opens_one_that_was_loaded_by_hand) {
  ASSERT_TRUE(loader_.load(expression(7)));
  run_until_it_is_closed();
  ASSERT_TRUE(loader_.apply({expression(7)}));
  EXPECT_TRUE(is_found(7));
  EXPECT_TRUE(loader_.list()[0].is_of_file);
}

TEST_F(SlowHandlerTest, a_reload_opens_it_and_it_stays_one_of_the_file) {
  ASSERT_TRUE(loader_.apply({expression(7)}));
  for (const bool by_hand : {false, true}) {
    run_until_it_is_closed();
    ASSERT_TRUE(by_hand ? loader_.load(expression(7)) : loader_.apply({expression(7)}));
    EXPECT_TRUE(is_found(7));
    EXPECT_TRUE(loader_.list()[0].is_of_file);
  }
}

}  // namespace
}  // namespace tributary::control
