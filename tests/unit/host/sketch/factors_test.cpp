// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/factors.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "matrices.h"
#include "plain.h"
#include "support/simd_targets.h"

namespace tributary::host::sketch::test {
namespace {

using Vector = std::vector<float>;
using tributary::test::for_each_target;

constexpr LowRank shapes[] = {{1, 1, 1},      {1, 9, 1},     {9, 1, 1},    {2, 3, 2},
                              {4, 512, 3},    {5, 513, 4},   {67, 31, 31}, {70, 80, 65},
                              {130, 1030, 5}, {205, 300, 20}};

// Calls f(shape, matrix, left, right) for each shape.
template <typename F>
void for_shapes(F f) {
  for (const auto& shape : shapes) {
    SCOPED_TRACE(std::to_string(shape.rows) + " x " + std::to_string(shape.columns) + ", rank " +
                 std::to_string(shape.rank));
    f(shape, normal_matrix(shape.rows, shape.columns, 1), normal_matrix(shape.rank, shape.rows, 2),
      normal_matrix(shape.rank, shape.columns, 3));
  }
}

double product_at(const LowRank& shape, const Vector& left, const Vector& right, std::size_t i,
                  std::size_t j) {
  double sum = 0;
  for (std::size_t k = 0; k < shape.rank; ++k) {
    sum += static_cast<double>(left[k * shape.rows + i]) *
           static_cast<double>(right[k * shape.columns + j]);
  }
  return sum;
}

TEST(SketchFactors, AreProductsWithTheMatrix) {
  for_each_target([](const std::string& target) {
    SCOPED_TRACE(target);
    for_shapes([](const LowRank& shape, const Vector& m, const Vector& left, const Vector& right) {
      Vector made_left(left.size(), 7.0f);
      Vector made_right(right.size(), 7.0f);
      times(made_left, m, right, shape);
      transposed_times(made_right, m, left, shape);
      for (std::size_t k = 0; k < shape.rank; ++k) {
        for (std::size_t i = 0; i < shape.rows; ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < shape.columns; ++j) {
            sum += static_cast<double>(m[i * shape.columns + j]) *
                   static_cast<double>(right[k * shape.columns + j]);
          }
          ASSERT_NEAR(made_left[k * shape.rows + i], sum, 1e-3) << k << ' ' << i;
        }
        for (std::size_t j = 0; j < shape.columns; ++j) {
          double sum = 0;
          for (std::size_t i = 0; i < shape.rows; ++i) {
            sum += static_cast<double>(m[i * shape.columns + j]) *
                   static_cast<double>(left[k * shape.rows + i]);
          }
          ASSERT_NEAR(made_right[k * shape.columns + j], sum, 1e-3) << k << ' ' << j;
        }
      }
    });
  });
}

TEST(SketchFactors, AreExpandedToTheSameBitsOnEveryCpu) {
  for_shapes([](const LowRank& shape, const Vector& m, const Vector& left, const Vector& right) {
    // The reference adds one product after the other, each rounded before it is added.
    Vector by_the_book(m.size());
    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.columns; ++j) {
        for (std::size_t k = 0; k < shape.rank; ++k) {
          const volatile float product = left[k * shape.rows + i] * right[k * shape.columns + j];
          by_the_book[i * shape.columns + j] += product;
        }
      }
    }
    for_each_target([&](const std::string& target) {
      Vector expanded(m.size(), 7.0f);
      expand(expanded, left, right, shape);
      EXPECT_EQ(expanded, by_the_book) << target;
      Vector rest = m;
      subtract(rest, left, right, shape);
      for (std::size_t i = 0; i < m.size(); ++i) {
        const auto product = product_at(shape, left, right, i / shape.columns, i % shape.columns);
        ASSERT_NEAR(rest[i], m[i] - product, 1e-4) << target << ' ' << i;
      }
    });
  });
}

double dot(const Vector& columns, std::size_t length, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    sum +=
        static_cast<double>(columns[a * length + i]) * static_cast<double>(columns[b * length + i]);
  }
  return sum;
}

TEST(SketchFactors, ColumnsBecomeOrthonormalWithTheSameBitsOnEveryCpu) {
  for (const std::size_t length : {1, 5, 63, 64, 65, 1000}) {
    const auto count = std::min<std::size_t>(length, 7);
    const auto given = normal_matrix(count, length, 5);
    Vector first;
    for_each_target([&](const std::string& target) {
      auto columns = given;
      orthonormalise(columns, length);
      first = first.empty() ? columns : first;
      EXPECT_EQ(columns, first) << target;
      for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
          EXPECT_NEAR(dot(columns, length, a, b), a == b ? 1 : 0, 2e-6) << length;
        }
      }
    });
  }
}

TEST(SketchFactors, ColumnsGetTheLength1WithTheSameBitsOnEveryCpu) {
  for (const std::size_t length : {1, 5, 63, 64, 65, 1000}) {
    auto given = normal_matrix(3, length, 5);
    std::fill(given.begin() + static_cast<std::ptrdiff_t>(length),
              given.begin() + static_cast<std::ptrdiff_t>(2 * length), 0.0f);
    Vector first;
    for_each_target([&](const std::string& target) {
      auto columns = given;
      normalise(columns, length);
      first = first.empty() ? columns : first;
      EXPECT_EQ(columns, first) << target;
      for (const std::size_t column : {0, 1, 2}) {
        EXPECT_NEAR(dot(columns, length, column, column), column == 1 ? 0 : 1, 2e-6) << length;
      }
      const auto cosine = std::abs(dot(columns, length, 0, 2));
      const auto was = std::abs(dot(given, length, 0, 2)) /
                       std::sqrt(dot(given, length, 0, 0) * dot(given, length, 2, 2));
      EXPECT_NEAR(cosine, was, 2e-6) << "their directions stay";
    });
  }
}

// The rest of a column is small and still orthogonal, or it is the rounding error of the other
// column, which is not.
TEST(SketchFactors, ColumnsThatAreNearlyTheSameBecomeOrthonormalOrZeros) {
  constexpr std::size_t length = 500;
  const auto column = normal_matrix(1, length, 5);
  for (const float more : {0x1p-10f, 0.0f}) {
    auto columns = column;
    columns.insert(columns.end(), column.begin(), column.end());
    columns[length + 3] += more;
    orthonormalise(columns, length);
    EXPECT_NEAR(dot(columns, length, 1, 1), more == 0 ? 0 : 1, 1e-6);
    EXPECT_NEAR(dot(columns, length, 0, 1), 0, 1e-6);
  }
}

TEST(SketchFactors, ZerosStayZerosAndWhatIsNotFiniteStaysSo) {
  Vector columns = {0, 0, 0, 1, 2, 2, 2, 4, 4};
  orthonormalise(columns, 3);
  EXPECT_EQ(Vector(columns.begin(), columns.begin() + 3), Vector(3));
  EXPECT_NEAR(columns[3], 1.0 / 3, 1e-6);
  for (const float odd : {nan, infinity, -infinity}) {
    columns = {1, 2, odd, 1, 2, 2};
    orthonormalise(columns, 3);
    EXPECT_FALSE(are_finite(columns));
  }
  columns = {greatest, -greatest, 0x1p-149f};
  EXPECT_TRUE(are_finite(columns));
  orthonormalise(columns, 3);
  EXPECT_NEAR(dot(columns, 3, 0, 0), 1, 1e-6);
  columns = {0x1p-149f, 0};
  orthonormalise(columns, 2);
  EXPECT_EQ(columns, (Vector{1, 0}));
}

TEST(SketchFactors, OnlyColumnsOfZerosAreDrawn) {
  Vector columns = {0, 0, 0, 0, 0, 1, 0, 0, 0};
  draw_missing(columns, 3, 7);
  EXPECT_EQ(Vector(columns.begin() + 3, columns.begin() + 6), (Vector{0, 0, 1}));
  for (const std::size_t i : {0, 1, 2, 6, 7, 8}) {
    EXPECT_NE(columns[i], 0);
    EXPECT_LE(std::fabs(columns[i]), 1);
  }
  Vector again(9);
  draw_missing(again, 3, 7);
  EXPECT_EQ(again[8], columns[8]);
  draw_missing(again, 9, 7);
  Vector other(9);
  draw_missing(other, 9, 8);
  EXPECT_NE(again, other);
}

}  // namespace
}  // namespace tributary::host::sketch::test
