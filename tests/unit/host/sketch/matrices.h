// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <utility>
#include <vector>

// Plain code for matrices, row by row, and their singular values.
namespace tributary::host::sketch::test {

inline std::vector<float> normal_matrix(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> matrix(rows * columns);
  std::generate(matrix.begin(), matrix.end(), [&] { return normal(random); });
  return matrix;
}

// Returns a matrix of rank `rank`: a sum of so many outer products, each by the factor `decay`
// smaller than the one before.
inline std::vector<float> matrix_of_rank(std::size_t rows, std::size_t columns, std::size_t rank,
                                         std::uint64_t seed, double decay = 1) {
  const auto left = normal_matrix(rank, rows, seed);
  const auto right = normal_matrix(rank, columns, seed + 1000);
  std::vector<float> matrix(rows * columns);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < rank; ++k) {
        sum += std::pow(decay, k) * static_cast<double>(left[k * rows + i]) *
               static_cast<double>(right[k * columns + j]);
      }
      matrix[i * columns + j] = static_cast<float>(sum);
    }
  }
  return matrix;
}

// Returns the singular values, the greatest first, by rotations that make columns orthogonal, two
// at a time (Jacobi, one-sided).
inline std::vector<double> singular_values(std::span<const double> matrix, std::size_t columns) {
  std::vector<double> m(matrix.begin(), matrix.end());
  const auto rows = m.size() / columns;
  bool rotated = true;
  for (int sweep = 0; rotated && sweep < 60; ++sweep) {
    rotated = false;
    for (std::size_t p = 0; p < columns; ++p) {
      for (std::size_t q = p + 1; q < columns; ++q) {
        double of_p = 0;
        double of_q = 0;
        double both = 0;
        for (std::size_t i = 0; i < rows; ++i) {
          of_p += m[i * columns + p] * m[i * columns + p];
          of_q += m[i * columns + q] * m[i * columns + q];
          both += m[i * columns + p] * m[i * columns + q];
        }
        if (std::fabs(both) <= 1e-13 * std::sqrt(of_p * of_q)) {
          continue;
        }
        rotated = true;
        const double zeta = (of_q - of_p) / (2 * both);
        const double tangent = std::copysign(1, zeta) / (std::fabs(zeta) + std::hypot(1, zeta));
        const double cosine = 1 / std::hypot(1, tangent);
        for (std::size_t i = 0; i < rows; ++i) {
          auto& a = m[i * columns + p];
          auto& b = m[i * columns + q];
          const double old = a;
          a = cosine * (old - tangent * b);
          b = cosine * (b + tangent * old);
        }
      }
    }
  }
  std::vector<double> values(columns);
  for (std::size_t p = 0; p < columns; ++p) {
    double squares = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      squares += m[i * columns + p] * m[i * columns + p];
    }
    values[p] = std::sqrt(squares);
  }
  std::sort(values.begin(), values.end(), std::greater<>());
  return values;
}

// Returns the least error of any matrix of that rank, in the root of the squares (Eckart and
// Young).
inline double least_error(const std::vector<double>& values, std::size_t rank) {
  double squares = 0;
  for (std::size_t k = rank; k < values.size(); ++k) {
    squares += values[k] * values[k];
  }
  return std::sqrt(squares);
}

}  // namespace tributary::host::sketch::test
