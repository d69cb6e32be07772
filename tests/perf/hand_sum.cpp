// SPDX-License-Identifier: BSD-3-Clause
#include "hand_sum.h"

#include <immintrin.h>

namespace tributary::perf {
namespace {

[[gnu::target("avx512f")]] void sum_avx512(float* to, const float* from, std::size_t n) {
  constexpr std::size_t lanes = 16;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = _mm512_add_ps(_mm512_loadu_ps(to + i), _mm512_loadu_ps(from + i));
    const auto b =
        _mm512_add_ps(_mm512_loadu_ps(to + i + lanes), _mm512_loadu_ps(from + i + lanes));
    const auto c =
        _mm512_add_ps(_mm512_loadu_ps(to + i + 2 * lanes), _mm512_loadu_ps(from + i + 2 * lanes));
    const auto d =
        _mm512_add_ps(_mm512_loadu_ps(to + i + 3 * lanes), _mm512_loadu_ps(from + i + 3 * lanes));
    _mm512_storeu_ps(to + i, a);
    _mm512_storeu_ps(to + i + lanes, b);
    _mm512_storeu_ps(to + i + 2 * lanes, c);
    _mm512_storeu_ps(to + i + 3 * lanes, d);
  }
  for (; i + lanes <= n; i += lanes) {
    _mm512_storeu_ps(to + i, _mm512_add_ps(_mm512_loadu_ps(to + i), _mm512_loadu_ps(from + i)));
  }
  for (; i < n; ++i) {
    to[i] += from[i];
  }
}

[[gnu::target("avx2")]] void sum_avx2(float* to, const float* from, std::size_t n) {
  constexpr std::size_t lanes = 8;
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = _mm256_add_ps(_mm256_loadu_ps(to + i), _mm256_loadu_ps(from + i));
    const auto b =
        _mm256_add_ps(_mm256_loadu_ps(to + i + lanes), _mm256_loadu_ps(from + i + lanes));
    const auto c =
        _mm256_add_ps(_mm256_loadu_ps(to + i + 2 * lanes), _mm256_loadu_ps(from + i + 2 * lanes));
    const auto d =
        _mm256_add_ps(_mm256_loadu_ps(to + i + 3 * lanes), _mm256_loadu_ps(from + i + 3 * lanes));
    _mm256_storeu_ps(to + i, a);
    _mm256_storeu_ps(to + i + lanes, b);
    _mm256_storeu_ps(to + i + 2 * lanes, c);
    _mm256_storeu_ps(to + i + 3 * lanes, d);
  }
  for (; i + lanes <= n; i += lanes) {
    _mm256_storeu_ps(to + i, _mm256_add_ps(_mm256_loadu_ps(to + i), _mm256_loadu_ps(from + i)));
  }
  for (; i < n; ++i) {
    to[i] += from[i];
  }
}

void sum_plain(float* to, const float* from, std::size_t n) {
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    to[i] += from[i];
    to[i + 1] += from[i + 1];
    to[i + 2] += from[i + 2];
    to[i + 3] += from[i + 3];
  }
  for (; i < n; ++i) {
    to[i] += from[i];
  }
}

struct HandSum {
  const char* target;
  void (*sum)(float*, const float*, std::size_t);
};

HandSum widest() {
  if (__builtin_cpu_supports("avx512f")) {
    return {"avx512", &sum_avx512};
  }
  if (__builtin_cpu_supports("avx2")) {
    return {"avx2", &sum_avx2};
  }
  return {"plain", &sum_plain};
}

const HandSum chosen = widest();

}  // namespace

void hand_sum(float* to, const float* from, std::size_t n) {
  chosen.sum(to, from, n);
}

const char* hand_sum_target() {
  return chosen.target;
}

}  // namespace tributary::perf
