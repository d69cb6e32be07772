// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/trial.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reduce/handlers/expression.h"

namespace tributary::reduce {
namespace {

using testing::HasSubstr;
using Combine = std::function<void(std::uint32_t* to, const std::uint32_t* from, std::size_t n)>;

class Tried final : public Handler {
 public:
  explicit Tried(Combine how) : combine_(std::move(how)) {}
  void combine(void* accumulator, const void* elements, std::size_t n) const override {
    combine_(static_cast<std::uint32_t*>(accumulator), static_cast<const std::uint32_t*>(elements),
             n);
  }
  wire::ElementType type() const override { return wire::ElementType::opaque4; }
  const std::string& name() const override { return name_; }
  std::uint64_t mark() const override { return 1; }
  bool is_native() const override { return true; }

 private:
  Combine combine_;
  std::string name_ = "tried";
};

std::string outcome(Combine combine, void (*identity)(void*, std::size_t) = nullptr) {
  return try_out(Tried(std::move(combine)), identity);
}

void zeros(void* elements, std::size_t n) {
  std::memset(elements, 0, n * sizeof(std::uint32_t));
}

TEST(Trial, WhoKeepsToItsElementsPasses) {
  const auto take_theirs = [](auto* to, const auto* from, std::size_t n) {
    std::memcpy(to, from, n * sizeof *to);
  };
  EXPECT_EQ(outcome(take_theirs), "");
  EXPECT_EQ(outcome(take_theirs, zeros), "");
  const auto handler = compile_expression("acc = acc * in - 1;", wire::ElementType::i16);
  ASSERT_TRUE(handler);
  EXPECT_EQ(try_out(**handler, nullptr), "");
}

TEST(Trial, WhoWritesElsewhereIsFoundOut) {
  EXPECT_THAT(outcome([](auto* to, const auto*, std::size_t n) {
                std::memset(reinterpret_cast<char*>(to) + n * sizeof *to, 0, 1);
              }),
              HasSubstr("beyond its 0 elements"));
  EXPECT_THAT(outcome([](auto* to, const auto*, std::size_t n) {
                std::memset(reinterpret_cast<char*>(to) - (n > 60 ? 1 : 0), 0, n > 60 ? 1 : 0);
              }),
              HasSubstr("beyond its 64 elements"));
  EXPECT_THAT(outcome([](auto*, const auto* from, std::size_t n) {
                std::memset(const_cast<char*>(reinterpret_cast<const char*>(from)), 7, n * 4);
              }),
              HasSubstr("wrote to the elements"));
}

TEST(Trial, AnIdentityThatIsNoneIsFoundOut) {
  const auto ones = [](auto* to, const auto*, std::size_t n) { std::memset(to, 1, n * 4); };
  EXPECT_EQ(outcome(ones), "");
  EXPECT_THAT(outcome(ones, zeros), HasSubstr("identity with itself"));
  const auto nothing = [](auto*, const auto*, std::size_t) {};
  const auto too_many = [](void* elements, std::size_t n) { zeros(elements, n + 1); };
  EXPECT_THAT(outcome(nothing, too_many), HasSubstr("identity wrote beyond"));
}

}  // namespace
}  // namespace tributary::reduce
