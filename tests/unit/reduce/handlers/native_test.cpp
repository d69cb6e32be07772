// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/native.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace tributary::reduce {
namespace {

using testing::HasSubstr;

std::unique_ptr<Handler> example(const std::string& name) {
  auto handler = open_native(HANDLER_EXAMPLES "/" + name + ".so");
  EXPECT_TRUE(handler) << handler.error();
  return handler ? std::move(*handler) : nullptr;
}

std::string refusal(const std::string& path) {
  const auto handler = open_native(path);
  return handler ? "none" : handler.error();
}

std::string refusal_of_broken(const std::string& name) {
  return refusal(BROKEN_HANDLERS "/broken_" + name + ".so");
}

// At addresses that are aligned to nothing.
template <typename T>
void combine(const Handler& handler, std::vector<T>& acc, const std::vector<T>& in) {
  const auto bytes = acc.size() * sizeof(T);
  std::vector<std::byte> to(bytes + 1);
  std::vector<std::byte> from(bytes + 1);
  std::memcpy(to.data() + 1, acc.data(), bytes);
  std::memcpy(from.data() + 1, in.data(), bytes);
  handler.combine(to.data() + 1, from.data() + 1, acc.size());
  std::memcpy(acc.data(), to.data() + 1, bytes);
}

TEST(Native, LoadingOneChangesNobodysFloats) {
  const volatile float tiny = 1e-40f;
  EXPECT_EQ(refusal_of_broken("fast"), "none");
  EXPECT_GT(tiny, 0.0f);
}

TEST(SaturatingAdd, AddsAllPairsOfBytes) {
  const auto handler = example("saturating_add");
  ASSERT_TRUE(handler);
  EXPECT_EQ(handler->type(), wire::ElementType::i8);
  EXPECT_EQ(handler->name(), "saturating add");
  EXPECT_TRUE(handler->is_native());
  EXPECT_NE(handler->mark(), 0u);
  std::vector<std::int8_t> acc;
  std::vector<std::int8_t> in;
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      acc.push_back(static_cast<std::int8_t>(a));
      in.push_back(static_cast<std::int8_t>(b));
    }
  }
  const auto before = acc;
  combine(*handler, acc, in);
  for (std::size_t i = 0; i < acc.size(); ++i) {
    ASSERT_EQ(acc[i], std::clamp(before[i] + in[i], -128, 127)) << i;
  }
}

struct Complex {
  float real = 0;
  float imaginary = 0;
};

// The numbers are small and whole, so that products are exact; there are more of them than are
// copied at a time.
TEST(ComplexProduct, MultipliesAlsoWhereNothingIsAligned) {
  const auto handler = example("complex_product");
  ASSERT_TRUE(handler);
  EXPECT_EQ(handler->type(), wire::ElementType::opaque8);
  std::mt19937 random(1);
  const auto draw = [&] { return static_cast<int>(random() % 2001) - 1000; };
  std::vector<Complex> acc(5000);
  std::vector<Complex> in(5000);
  std::vector<std::pair<int, int>> wanted;
  for (std::size_t i = 0; i < acc.size(); ++i) {
    const int a = draw();
    const int b = draw();
    const int c = draw();
    const int d = draw();
    acc[i] = {static_cast<float>(a), static_cast<float>(b)};
    in[i] = {static_cast<float>(c), static_cast<float>(d)};
    wanted.emplace_back(a * c - b * d, a * d + b * c);
  }
  combine(*handler, acc, in);
  for (std::size_t i = 0; i < acc.size(); ++i) {
    ASSERT_EQ(acc[i].real, static_cast<float>(wanted[i].first)) << i;
    ASSERT_EQ(acc[i].imaginary, static_cast<float>(wanted[i].second)) << i;
  }
}

// One is too small to change each of the large numbers that it is added to a thousand times.
TEST(KahanSum, LosesNothingInAnyGrouping) {
  const auto handler = example("kahan_sum");
  ASSERT_TRUE(handler);
  struct Sum {
    float value;
    float lost;
  };
  std::vector<Sum> large = {{1e8f, 0}};
  std::vector<Sum> ones = {{1, 0}};
  for (int i = 1; i < 1000; ++i) {
    combine(*handler, ones, {{1, 0}});
    combine(*handler, large, {{1, 0}});
  }
  combine(*handler, large, {{-1e8f, 0}});
  combine(*handler, large, ones);
  EXPECT_EQ(large[0].value + large[0].lost, 999.0f + 1000.0f);
}

struct Opaque16 {
  std::uint8_t bytes[16];
};

// Elements are steps from 0 to 15 of one size, of which a packet has a table and a code each.
std::vector<Opaque16> steps_packet(float step, std::mt19937& random, std::vector<float>& sums) {
  std::vector<Opaque16> packet(4 + sums.size() / 32);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(packet.data());
  for (int code = 0; code < 16; ++code) {
    const float value = step * static_cast<float>(code);
    std::memcpy(bytes + 4 * code, &value, sizeof value);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto code = static_cast<std::uint8_t>(random() % 16);
    bytes[64 + i / 2] = static_cast<std::uint8_t>(bytes[64 + i / 2] | code << (i % 2 * 4));
    sums[i] += step * static_cast<float>(code);
  }
  return packet;
}

TEST(SketchMerge, DecodesAddsAndSketchesAgain) {
  const auto handler = example("sketch_merge");
  ASSERT_TRUE(handler);
  EXPECT_EQ(handler->type(), wire::ElementType::opaque16);
  std::mt19937 random(3);
  for (const std::size_t count : {32u, 640u, 2624u}) {
    std::vector<float> sums(count);
    auto acc = steps_packet(1, random, sums);
    const auto in = steps_packet(3, random, sums);
    combine(*handler, acc, in);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(acc.data());
    double off = 0;
    double kept = 0;
    double exact = 0;
    for (std::size_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, bytes + 4 * (bytes[64 + i / 2] >> (i % 2 * 4) & 0xf), sizeof value);
      off = std::max(off, std::abs(static_cast<double>(value - sums[i])));
      kept += static_cast<double>(value);
      exact += static_cast<double>(sums[i]);
    }
    // Each of sixteen codes has as many of the sums from 0 to 60, so those at the ends are the
    // widest.
    EXPECT_LT(off, count == 32 ? 12 : 9) << count;
    EXPECT_NEAR(kept, exact, 1e-4 * exact) << "a code stands for the mean of what has it";
  }
}

// There may be codes without a table, and tables without codes; NaNs and infinities may be in both.
TEST(SketchMerge, TakesWhateverComes) {
  const auto handler = example("sketch_merge");
  ASSERT_TRUE(handler);
  std::mt19937 random(4);
  for (const std::size_t n : {0u, 1u, 4u, 5u, 88u, 1000u}) {
    std::vector<Opaque16> acc(n);
    std::vector<Opaque16> in(n);
    for (auto* side : {&acc, &in}) {
      for (auto& element : *side) {
        std::generate_n(element.bytes, 16, [&] {
          return static_cast<std::uint8_t>(random() % 3 == 0 ? 0xff : random());
        });
      }
    }
    combine(*handler, acc, in);
  }
}

struct Entry {
  float value = 0;
  std::int32_t index = 0;
};

std::vector<Entry> greatest_first(std::vector<Entry> entries) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.value != b.value ? a.value > b.value : a.index < b.index;
  });
  return entries;
}

TEST(TopkMerge, KeepsTheGreatestOfBoth) {
  const auto handler = example("topk_merge");
  ASSERT_TRUE(handler);
  EXPECT_EQ(handler->type(), wire::ElementType::f32_i32);
  std::mt19937 random(2);
  for (const std::size_t n : {1u, 2u, 31u, 175u, 1125u}) {
    std::vector<Entry> lists[2];
    for (auto& list : lists) {
      for (std::size_t i = 0; i < n; ++i) {
        list.push_back({static_cast<float>(random() % (2 * n)),
                        static_cast<std::int32_t>(random() % 1000000)});
      }
      list = greatest_first(list);
    }
    auto wanted = lists[0];
    wanted.insert(wanted.end(), lists[1].begin(), lists[1].end());
    wanted = greatest_first(wanted);
    combine(*handler, lists[0], lists[1]);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_EQ(lists[0][i].value, wanted[i].value) << n << " " << i;
      ASSERT_EQ(lists[0][i].index, wanted[i].index) << n << " " << i;
    }
  }
}

TEST(Native, MarkIsOfTheFile) {
  EXPECT_EQ(example("kahan_sum")->mark(), example("kahan_sum")->mark());
  EXPECT_NE(example("kahan_sum")->mark(), example("complex_product")->mark());
}

// The file is replaced by renaming, as the reference says; the first one is still loaded.
TEST(Native, AFileThatWasReplacedIsTheNewHandler) {
  const test::TemporaryDirectory directory;
  const auto file = directory / "handler.so";
  const auto put = [&](const std::string& name) {
    std::filesystem::copy_file(HANDLER_EXAMPLES "/" + name + ".so", directory / "next.so");
    std::filesystem::rename(directory / "next.so", file);
  };
  put("kahan_sum");
  const auto before = open_native(file);
  ASSERT_TRUE(before) << before.error();
  put("complex_product");
  const auto after = open_native(file);
  ASSERT_TRUE(after) << after.error();
  EXPECT_EQ((*after)->name(), example("complex_product")->name());
  EXPECT_EQ((*after)->mark(), example("complex_product")->mark());
  EXPECT_EQ((*before)->name(), example("kahan_sum")->name());
  const auto again = open_native(file);
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ((*again)->name(), (*after)->name());
}

TEST(Native, MayBeLoadedAThousandTimes) {
  for (int i = 0; i < 1000; ++i) {
    ASSERT_NE(example("saturating_add"), nullptr);
  }
}

TEST(Native, FilesThatAreNoHandlersAreRefused) {
  EXPECT_THAT(refusal("/nowhere/x.so"),
              HasSubstr("cannot load /nowhere/x.so as a handler: No such"));
  EXPECT_THAT(refusal("/"), HasSubstr("Is a directory"));
  const test::TemporaryDirectory directory;
  const auto file = directory / "text.so";
  std::ofstream(file) << "no machine code";
  EXPECT_THAT(refusal(file), HasSubstr("-shared -fPIC"));
  EXPECT_THAT(refusal(file), HasSubstr(file + ": "));
  std::filesystem::resize_file(file, 0);
  EXPECT_THAT(refusal(file), HasSubstr("-shared -fPIC"));
  EXPECT_THAT(refusal_of_broken("nothing"), HasSubstr("has no tributary_handler"));
}

TEST(Native, DescriptionsThatAreNoneAreRefused) {
  EXPECT_THAT(refusal_of_broken("version"), HasSubstr("version 2 of tributary-handler.h, and this "
                                                      "is version 1"));
  EXPECT_THAT(refusal_of_broken("name"), HasSubstr("1 to 64 printable characters"));
  EXPECT_THAT(refusal_of_broken("unnamed"), HasSubstr("1 to 64 printable characters"));
  EXPECT_THAT(refusal_of_broken("type"), HasSubstr("its type is none of f32"));
  EXPECT_THAT(refusal_of_broken("bytes"), HasSubstr("have 2 bytes, and those of i8 have 1"));
  EXPECT_THAT(refusal_of_broken("alignment"), HasSubstr("a power of two, at most 64, not 3"));
  EXPECT_THAT(refusal_of_broken("unaligned"), HasSubstr("a power of two, at most 64, not 0"));
  EXPECT_THAT(refusal_of_broken("combine"), HasSubstr("it has no combine"));
}

TEST(Native, WhatSpoilsPacketsIsRefused) {
  EXPECT_THAT(refusal_of_broken("beyond"), HasSubstr("combine wrote beyond its"));
  EXPECT_THAT(refusal_of_broken("elements"), HasSubstr("combine wrote to the elements"));
  EXPECT_THAT(refusal_of_broken("identity"), HasSubstr("combine of its identity with itself"));
  EXPECT_EQ(refusal_of_broken("not"), "none") << "the others are refused for what they differ in";
}

}  // namespace
}  // namespace tributary::reduce
