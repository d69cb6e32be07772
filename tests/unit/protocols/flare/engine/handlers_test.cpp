// SPDX-License-Identifier: BSD-3-Clause
// Tests operators that are handlers: who may begin a block, and what is added to its fingerprint.
#include "support/handlers.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>

#include "fixture.h"
#include "reduce/handlers/budget.h"
#include "reduce/handlers/mark.h"
#include "wire/element.h"

namespace tributary::flare {
namespace {

constexpr unsigned number = 5;
constexpr auto mark = test::OneLess::usual_mark;

class FlareHandlers : public FlareTest {
 protected:
  FlareHandlers() { EXPECT_TRUE(loaded.is_loaded()); }

  static FlareSpec by_handler(FlareSpec spec, unsigned handler = number) {
    spec.op = wire::handler_operator(handler);
    return spec;
  }
  // Expects in every order as many marks as combinations.
  void expect_marks(const TreeConfig& tree) {
    start({tree});
    std::uint64_t block = 0;
    PortIndex order[] = {0, 1, 2, 3};
    do {
      std::vector<test::Sent> sent;
      std::uint64_t tags = 0;
      for (const auto port : order) {
        const auto spec = by_handler(from(tree, port, block));
        tags += spec.fingerprint;
        sent = feed(spec, Ints{port + 1, 10});
      }
      ASSERT_EQ(sent.size(), 4u);
      const Seen result(sent[0]);
      EXPECT_EQ(result.ints(), (Ints{7, 37}));
      EXPECT_EQ(result.header().fingerprint.value(), tags + 3 * mark);
      ++block;
    } while (std::next_permutation(std::begin(order), std::end(order)));
  }

  test::LoadedHandler loaded{number, std::make_unique<test::OneLess>()};
};

TEST_F(FlareHandlers, EachCombinationOnASingleBufferIsMarked) {
  expect_marks(root_of(4));
}

TEST_F(FlareHandlers, EachCombinationInATreeIsMarked) {
  expect_marks(reproducible(root_of(4)));
}

TEST_F(FlareHandlers, WithoutTheHandlerNoBlockBegins) {
  const auto tree = root_of(2);
  start({tree});
  expect_drop(by_handler(from(tree, 0), number + 1), DropReason::no_handler);
  auto spec = by_handler(from(tree, 0));
  spec.type = wire::ElementType::f32;
  expect_drop(spec, DropReason::no_handler);
  loaded.close();
  expect_drop(by_handler(from(tree, 0)), DropReason::no_handler);
}

// A reload that is refused closes a handler for a moment.
TEST_F(FlareHandlers, ABlockWaitsForAHandlerThatIsClosed) {
  const auto tree = root_of(2);
  start({tree});
  const auto first = by_handler(from(tree, 0));
  const auto second = by_handler(from(tree, 1));
  feed(first);
  loaded.close();
  expect_drop(second, DropReason::no_handler);
  loaded.reopen();
  const auto sent = feed(second);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).header().fingerprint.value(),
            first.fingerprint + second.fingerprint + reduce::mark_of(first.op));
}

TEST_F(FlareHandlers, OneThatTakesTooLongIsClosedAndOthersGoOn) {
  const test::LoadedHandler slow(number + 1, std::make_unique<test::SlowOneLess>());
  const auto tree = root_of(2);
  start({tree});
  std::uint64_t block = 0;
  for (; block < 100 && !reduce::is_too_slow(wire::handler_operator(number + 1)); ++block) {
    feed(by_handler(from(tree, 0, block), number + 1));
    feed(by_handler(from(tree, 1, block), number + 1));
  }
  expect_drop(by_handler(from(tree, 0, block), number + 1), DropReason::handler_too_slow);
  feed(by_handler(from(tree, 0, block)));
  EXPECT_EQ(feed(by_handler(from(tree, 1, block))).size(), 2u);
}

}  // namespace
}  // namespace tributary::flare
