// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/table.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/handlers/mark.h"
#include "reduce/kernel.h"
#include "support/unload_handlers.h"

namespace tributary::reduce {
namespace {

using test::UnloadHandlers;
using testing::HasSubstr;
using wire::ElementType;

// A handler that records its calls.
class Spy final : public Handler {
 public:
  Spy(ElementType type, std::uint64_t mark, std::string name = "spy")
      : type_(type), mark_(mark), name_(std::move(name)) {}
  void combine(void* accumulator, const void* elements, std::size_t n) const override {
    *static_cast<std::uint8_t*>(accumulator) = *static_cast<const std::uint8_t*>(elements);
    elements_ += n;
  }
  ElementType type() const override { return type_; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return mark_; }
  bool is_native() const override { return true; }
  std::size_t elements() const { return elements_; }

 private:
  ElementType type_;
  std::uint64_t mark_;
  std::string name_;
  mutable std::size_t elements_ = 0;
};

class Handlers : public testing::Test {
 protected:
  // Loads a spy, which belongs to the table.
  const Spy& load(unsigned number, ElementType type, std::uint64_t mark = 77) {
    auto spy = std::make_unique<Spy>(type, mark);
    const Spy& loaded = *spy;
    EXPECT_TRUE(handlers().load(number, std::move(spy)));
    return loaded;
  }
  static const Kernel* find(ElementType type, unsigned number) {
    return find_kernel(type, wire::handler_operator(number));
  }
  static std::uint64_t mark(unsigned number) { return mark_of(wire::handler_operator(number)); }

 private:
  UnloadHandlers unload_;
};

TEST_F(Handlers, IsFoundForItsTypeOnly) {
  EXPECT_EQ(find(ElementType::f32, 5), nullptr);
  load(5, ElementType::f32);
  EXPECT_NE(find(ElementType::f32, 5), nullptr);
  EXPECT_EQ(find(ElementType::i32, 5), nullptr);
  EXPECT_EQ(find(ElementType::f32, 6), nullptr);
  EXPECT_EQ(find_kernel(ElementType::f32, wire::Operator::sum),
            &kernel(ElementType::f32, wire::Operator::sum));
}

TEST_F(Handlers, KernelCombinesInPlace) {
  const auto& spy = load(63, ElementType::opaque16);
  const Kernel& found = *find(ElementType::opaque16, 63);
  EXPECT_TRUE(found.in_place);
  EXPECT_EQ(found.accumulator_bytes, 16u);
  std::uint8_t elements[48];
  std::uint8_t accumulator[48] = {};
  for (std::uint8_t i = 0; i < 48; ++i) {
    elements[i] = static_cast<std::uint8_t>(i + 1);
  }
  found.load(accumulator, elements, 3);
  EXPECT_TRUE(std::equal(elements, elements + 48, accumulator));
  accumulator[0] = 99;
  found.accumulate(accumulator, elements, 3);
  EXPECT_EQ(accumulator[0], 1);
  EXPECT_EQ(spy.elements(), 3u);
  std::uint8_t stored[48] = {};
  found.store(stored, accumulator, 3);
  EXPECT_TRUE(std::equal(stored, stored + 48, elements));
}

TEST_F(Handlers, MarkIsOfWhoIsOpen) {
  EXPECT_EQ(mark(0), 0u);
  load(0, ElementType::i8, 123);
  EXPECT_EQ(mark(0), 123u);
  EXPECT_EQ(mark(1), 0u);
  EXPECT_EQ(mark_of(wire::Operator::sum), 0u);
  EXPECT_TRUE(handlers().close(0));
  EXPECT_EQ(mark(0), 0u);
}

TEST_F(Handlers, RefusesNumbersThatAreTakenOrImpossible) {
  load(7, ElementType::i8);
  const auto taken = handlers().load(7, std::make_unique<Spy>(ElementType::i8, 1));
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error(), HasSubstr("handler 7 is taken, by spy"));
  const auto impossible = handlers().load(64, std::make_unique<Spy>(ElementType::i8, 1));
  ASSERT_FALSE(impossible);
  EXPECT_THAT(impossible.error(), HasSubstr("from 0 to 63"));
  EXPECT_TRUE(handlers().close(7));
  EXPECT_FALSE(handlers().load(7, std::make_unique<Spy>(ElementType::i8, 1)))
      << "it still combines";
}

TEST_F(Handlers, ClosedOneCombinesForThoseWhoFoundIt) {
  const auto& spy = load(9, ElementType::i8);
  const Kernel* before = find(ElementType::i8, 9);
  ASSERT_TRUE(handlers().close(9));
  EXPECT_FALSE(handlers().close(9)) << "it is closed";
  EXPECT_EQ(find(ElementType::i8, 9), nullptr);
  std::uint8_t bytes[2] = {1, 2};
  before->accumulate(bytes, bytes + 1, 1);
  EXPECT_EQ(spy.elements(), 1u);
}

TEST_F(Handlers, ReopenedOneIsFoundAsBefore) {
  load(9, ElementType::i8, 123);
  handlers().reopen(9);
  EXPECT_TRUE(handlers().close(9));
  handlers().reopen(9);
  EXPECT_NE(find(ElementType::i8, 9), nullptr);
  EXPECT_EQ(mark(9), 123u);
  EXPECT_EQ(handlers().take(9), nullptr) << "it is open";
  handlers().reopen(10);
  handlers().reopen(64);
  EXPECT_EQ(find(ElementType::i8, 10), nullptr);
}

TEST_F(Handlers, TakenOneCombinesNothing) {
  const auto& spy = load(9, ElementType::i8);
  const Kernel* before = find(ElementType::i8, 9);
  EXPECT_EQ(handlers().take(9), nullptr) << "it is open";
  ASSERT_TRUE(handlers().close(9));
  const auto taken = handlers().take(9);
  EXPECT_EQ(taken.get(), &spy);
  std::uint8_t bytes[2] = {1, 2};
  before->accumulate(bytes, bytes + 1, 1);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(spy.elements(), 0u);
  EXPECT_EQ(handlers().take(9), nullptr);
  EXPECT_FALSE(handlers().close(9));
}

// A block that began with one handler may go on when its number has another handler.
TEST_F(Handlers, KernelNeverRunsTheNextHandlerOverElementsOfAnotherSize) {
  load(2, ElementType::i8);
  const Kernel* before = find(ElementType::i8, 2);
  ASSERT_TRUE(handlers().close(2));
  handlers().take(2);
  const auto& next = load(2, ElementType::opaque16);
  std::uint8_t bytes[2] = {1, 2};
  before->accumulate(bytes, bytes + 1, 1);
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(next.elements(), 0u);
}

TEST_F(Handlers, KernelOfAnUnloadedOneLeavesTheAccumulatorAsItIs) {
  std::uint8_t bytes[2] = {1, 2};
  kernel(ElementType::i8, wire::handler_operator(40)).accumulate(bytes, bytes + 1, 1);
  EXPECT_EQ(bytes[0], 1);
}

TEST_F(Handlers, ListTellsAllInTheOrderOfTheirNumbers) {
  EXPECT_TRUE(handlers().list().empty());
  load(30, ElementType::f64, 5);
  load(3, ElementType::opaque4, 6);
  handlers().close(30);
  const auto rows = handlers().list();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].number, 3u);
  EXPECT_EQ(rows[0].type, ElementType::opaque4);
  EXPECT_FALSE(rows[0].closed);
  EXPECT_EQ(rows[1].number, 30u);
  EXPECT_EQ(rows[1].name, "spy");
  EXPECT_EQ(rows[1].mark, 5u) << "it keeps its own";
  EXPECT_TRUE(rows[1].native);
  EXPECT_TRUE(rows[1].closed);
}

TEST_F(Handlers, AThousandLoads) {
  for (unsigned i = 0; i < 1000; ++i) {
    const unsigned number = i % wire::handlers_max;
    load(number, static_cast<ElementType>(i % wire::element_type_count), i + 1);
    EXPECT_EQ(mark(number), i + 1);
    ASSERT_TRUE(handlers().close(number));
    ASSERT_NE(handlers().take(number), nullptr);
  }
  EXPECT_TRUE(handlers().list().empty());
}

}  // namespace
}  // namespace tributary::reduce
