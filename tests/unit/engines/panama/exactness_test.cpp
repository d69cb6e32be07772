// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "fixture.h"

namespace tributary::panama {
namespace {

using wire::ElementType;
using wire::Operator;

// Small whole numbers, encoded without the code under test.
std::vector<std::byte> encode(ElementType type, int value) {
  static const std::map<int, std::uint16_t> f16 = {
      {1, 0x3c00}, {2, 0x4000}, {3, 0x4200}, {6, 0x4600}};
  static const std::map<int, std::uint16_t> bf16 = {
      {1, 0x3f80}, {2, 0x4000}, {3, 0x4040}, {6, 0x40c0}};
  const auto bytes_of = [](auto number) {
    std::vector<std::byte> bytes(sizeof number);
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
  };
  switch (type) {
    case ElementType::f32:
      return bytes_of(static_cast<float>(value));
    case ElementType::f64:
      return bytes_of(static_cast<double>(value));
    case ElementType::f16:
      return bytes_of(f16.at(value));
    case ElementType::bf16:
      return bytes_of(bf16.at(value));
    case ElementType::i8:
      return bytes_of(static_cast<std::int8_t>(value));
    case ElementType::i16:
      return bytes_of(static_cast<std::int16_t>(value));
    case ElementType::i32:
      return bytes_of(std::int32_t{value});
    case ElementType::i64:
      break;
  }
  return bytes_of(std::int64_t{value});
}

std::vector<std::byte> repeat(const std::vector<std::byte>& element, std::size_t count) {
  std::vector<std::byte> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.insert(all.end(), element.begin(), element.end());
  }
  return all;
}

// Of the contributions 1, 2 and 3.
int expected(Operator op) {
  constexpr int results[wire::operator_count] = {6, 1, 3, 6, 1 & 2 & 3, 1 | 2 | 3, 1 ^ 2 ^ 3};
  return results[static_cast<std::size_t>(op)];
}

using Pair = std::pair<ElementType, Operator>;

class PanamaExactness : public PanamaTest, public ::testing::WithParamInterface<Pair> {};

TEST_P(PanamaExactness, ThreeContributionsAreReducedAtEveryLengthInEveryOrder) {
  const auto [type, op] = GetParam();
  const auto tree = root_of(3);
  start({tree}, 64);
  std::uint32_t vid = 0;
  for (const std::size_t count : {0u, 1u, 3u, 17u, 200u}) {
    PortIndex order[] = {0, 1, 2};
    do {
      std::vector<test::Sent> sent;
      for (const auto port : order) {
        auto spec = from(tree, port, vid);
        spec.type = type;
        spec.op = op;
        sent = feed(spec, repeat(encode(type, port + 1), count));
      }
      ASSERT_EQ(sent.size(), 3u);
      for (const auto& copy : sent) {
        EXPECT_EQ(Seen(copy).elements<std::byte>(), repeat(encode(type, expected(op)), count));
      }
      ++vid;
    } while (std::next_permutation(std::begin(order), std::end(order)));
  }
}

std::vector<Pair> valid_pairs() {
  std::vector<Pair> pairs;
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const Pair pair{static_cast<ElementType>(type), static_cast<Operator>(op)};
      if (wire::is_valid(pair.first, pair.second)) {
        pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

INSTANTIATE_TEST_SUITE_P(ValidPairs, PanamaExactness, ::testing::ValuesIn(valid_pairs()),
                         [](const auto& test) {
                           return std::string(wire::name(test.param.first)) + "_" +
                                  std::string(wire::name(test.param.second));
                         });

class PanamaHalfPrecision : public PanamaTest {};

// 2048 + 1 rounds to 2048 in f16, twice; 2048 + 2 does not.
TEST_F(PanamaHalfPrecision, IsRoundedOnce) {
  const auto tree = root_of(3);
  start({tree});
  constexpr std::uint16_t values[] = {0x6800, 0x3c00, 0x3c00};
  std::vector<test::Sent> sent;
  for (PortIndex port = 0; port < 3; ++port) {
    auto spec = from(tree, port);
    spec.type = ElementType::f16;
    sent = feed(spec, std::vector<std::uint16_t>{values[port]});
  }
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(Seen(sent[0]).elements<std::uint16_t>(), std::vector<std::uint16_t>{0x6801});
}

}  // namespace
}  // namespace tributary::panama
