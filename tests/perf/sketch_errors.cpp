// SPDX-License-Identifier: BSD-3-Clause
// How far sketched sums are from exact ones, as tables in Markdown: by ranks, bits, and how many
// switches are one above the other. All ranks are in this process; their collectives are carried
// out by the kernels that switches have, along a tree. Deterministic, but for the times.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "host/sketch/grid_steps.h"
#include "host/sketch/low_rank_steps.h"
#include "host/sketch/quantile_steps.h"
#include "reduce/kernel.h"
#include "unit/host/sketch/matrices.h"

namespace tributary::perf {
namespace {

using namespace host::sketch;
using host::Call;
using Vector = std::vector<float>;
using Bytes = std::vector<std::byte>;

constexpr std::size_t vector_elements = 65536;
constexpr std::size_t side = 256;  // of matrices
constexpr std::uint32_t worlds[] = {2, 4, 8, 16, 32, 64};

// What the children of each switch have, up to the root: hops are the switches above a rank.
template <typename T, typename Sum>
T up_the_tree(std::vector<T> parts, int hops, Sum sum) {
  for (; hops > 0; --hops) {
    const auto children =
        hops == 1 ? parts.size()
                  : static_cast<std::size_t>(
                        std::ceil(std::pow(static_cast<double>(parts.size()), 1.0 / hops) - 1e-9));
    std::vector<T> above;
    for (std::size_t first = 0; first < parts.size(); first += children) {
      const auto n = std::min(children, parts.size() - first);
      above.push_back(sum(std::span(parts).subspan(first, n)));
    }
    parts = std::move(above);
  }
  return std::move(parts.front());
}

Bytes combined(std::span<Bytes> parts, const host::Buffers& shape) {
  const auto& kernel = reduce::kernel(shape.type, shape.op);
  Bytes sum = parts[0];
  for (const auto& part : parts.subspan(1)) {
    kernel.accumulate(sum.data(), part.data(), shape.count);
  }
  return sum;
}

// What all ranks get of the vectors, which lose them.
template <typename Steps>
void carry_out(std::vector<Vector>& vectors, std::vector<GradientSketch>& sketches, int hops) {
  const auto ranks = static_cast<std::uint32_t>(vectors.size());
  std::vector<Scratch> scratch(ranks);
  std::deque<Steps> steps;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    steps.emplace_back(Vectors{vectors[rank], vectors[rank]}, sketches[rank], rank, ranks,
                       scratch[rank]);
  }
  for (;;) {
    std::vector<Call> calls;
    std::vector<Bytes> parts;
    for (auto& of_rank : steps) {
      if (const auto step = of_rank.next()) {
        calls.push_back(step->call);
        const auto& buffers = step->call.buffers;
        parts.emplace_back(buffers.in, buffers.in + buffers.bytes());
      }
    }
    if (calls.empty()) {
      return;
    }
    const auto sum = up_the_tree(std::move(parts), hops, [&](std::span<Bytes> of_switch) {
      return combined(of_switch, calls[0].buffers);
    });
    for (const auto& call : calls) {
      std::copy(sum.begin(), sum.end(), call.buffers.out);
    }
  }
}

Vector sum_of(std::vector<Vector> vectors, std::vector<GradientSketch>& sketches, int hops) {
  if (sketches[0].matrix()) {
    carry_out<LowRankSteps>(vectors, sketches, hops);
  } else if (sketches[0].options().kind == SketchKind::grid) {
    carry_out<GridSteps>(vectors, sketches, hops);
  } else {
    carry_out<QuantileSteps>(vectors, sketches, hops);
  }
  return vectors[0];
}

struct Case {
  std::vector<Vector> vectors;
  std::vector<double> exact;
};

Case case_of(std::vector<Vector> vectors) {
  std::vector<double> exact(vectors[0].size());
  for (const auto& one : vectors) {
    std::transform(exact.begin(), exact.end(), one.begin(), exact.begin(), std::plus<>());
  }
  return {std::move(vectors), std::move(exact)};
}

// In percent, of the root mean squares.
double error_of(const Vector& sum, const std::vector<double>& exact) {
  double off = 0;
  double all = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    off += std::pow(static_cast<double>(sum[i]) - exact[i], 2);
    all += exact[i] * exact[i];
  }
  return 100 * std::sqrt(off / all);
}

// Exponentially distributed on both sides: wide and sharp, as gradients are.
Vector gradient(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<float> magnitude(1);
  Vector made(count);
  std::generate(made.begin(), made.end(),
                [&] { return (random() & 1) != 0 ? magnitude(random) : -magnitude(random); });
  return made;
}

std::string percent(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value < 0.01 ? "%.1e" : value < 10 ? "%.2f" : "%.0f", value);
  return text;
}

template <typename Cell>
void print_row(const std::string& name, Cell cell) {
  std::printf("| %s |", name.c_str());
  for (const auto ranks : worlds) {
    std::printf(" %s |", cell(ranks).c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
}

void print_head(const char* what) {
  std::printf("\n| %s | 2 ranks | 4 | 8 | 16 | 32 | 64 |\n|---|---|---|---|---|---|---|\n", what);
}

// Of both numbers of hops: one figure where the bits are the same.
std::string of_hops(const Vector& one, const Vector& three, const std::vector<double>& exact) {
  const auto first = percent(error_of(one, exact));
  return one == three ? first : first + ", " + percent(error_of(three, exact));
}

std::string error_by_hops(const Case& of, const SketchOptions& options) {
  const auto ranks = of.vectors.size();
  if (options.kind == SketchKind::grid &&
      Grid::levels_of(options.bits, static_cast<std::uint32_t>(ranks)) == 0) {
    return "";
  }
  Vector sums[2];
  for (const int hops : {1, 3}) {
    std::vector<GradientSketch> sketches(ranks, GradientSketch(of.exact.size(), options));
    sums[hops / 2] = sum_of(of.vectors, sketches, hops);
  }
  return of_hops(sums[0], sums[1], of.exact);
}

// A switch that decodes its children's codes, adds them up, and makes codes of the sum.
Vector sketched_again(std::span<Vector> parts, const SketchOptions& options, std::uint32_t& drawn) {
  Vector sum(parts[0].size());
  for (const auto& part : parts) {
    std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<>());
  }
  const auto quantiles = quantiles_of(sum, options.bits, options.rounding);
  const auto chance = chance_of(options.seed, drawn++, 0);
  Bytes codes(packed_bytes(sum.size(), options.bits));
  encode(codes.data(), sum, quantiles, options.rounding == Rounding::nearest ? nullptr : &chance);
  decode(sum, codes.data(), quantiles.values, options.bits);
  return sum;
}

std::string error_sketched_again(const Case& of, const SketchOptions& options) {
  Vector sums[2];
  for (const int hops : {1, 3}) {
    std::uint32_t drawn = 0;
    std::vector<Vector> sent;
    for (auto one : of.vectors) {
      sent.push_back(sketched_again({&one, 1}, options, drawn));
    }
    sums[hops / 2] = up_the_tree(std::move(sent), hops, [&](std::span<Vector> parts) {
      return sketched_again(parts, options, drawn);
    });
  }
  return of_hops(sums[0], sums[1], of.exact);
}

void print_vectors() {
  std::printf(
      "Vectors of %zu elements, double exponential: error in %%; one hop, three hops where "
      "they differ.\n",
      vector_elements);
  std::vector<Case> cases;
  for (const auto ranks : worlds) {
    std::vector<Vector> vectors;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      vectors.push_back(gradient(1000 * ranks + rank, vector_elements));
    }
    cases.push_back(case_of(std::move(vectors)));
  }
  const auto of = [&](std::uint32_t ranks) -> const Case& {
    return cases[static_cast<std::size_t>(std::countr_zero(ranks)) - 1];
  };
  print_head("sums");
  print_row("f32", [&](std::uint32_t ranks) {
    const auto sum = [](std::span<Vector> parts) {
      Vector total(parts[0].size());
      for (const auto& part : parts) {
        std::transform(total.begin(), total.end(), part.begin(), total.begin(), std::plus<>());
      }
      return total;
    };
    return of_hops(up_the_tree(of(ranks).vectors, 1, sum), up_the_tree(of(ranks).vectors, 3, sum),
                   of(ranks).exact);
  });
  for (const auto rounding : {Rounding::stochastic, Rounding::nearest}) {
    const std::string how = rounding == Rounding::nearest ? ", nearest, " : ", stochastic, ";
    for (const unsigned bits : {16u, 8u, 4u}) {
      print_row("grid" + how + std::to_string(bits), [&](std::uint32_t ranks) {
        return error_by_hops(of(ranks), {SketchKind::grid, bits, rounding, false, 1});
      });
    }
    for (const unsigned bits : {8u, 4u, 2u}) {
      const SketchOptions options{SketchKind::quantiles, bits, rounding, false, 1};
      print_row("quantiles, decoded by ranks" + how + std::to_string(bits),
                [&](std::uint32_t ranks) { return error_by_hops(of(ranks), options); });
      print_row("quantiles, sketched again by switches" + how + std::to_string(bits),
                [&](std::uint32_t ranks) { return error_sketched_again(of(ranks), options); });
    }
  }
}

// Matrices whose singular values fall, and noise that each rank has by itself.
Case matrices(std::uint32_t ranks) {
  using host::sketch::test::matrix_of_rank;
  using host::sketch::test::normal_matrix;
  const auto common = matrix_of_rank(side, side, 64, 7, 0.85);
  std::vector<Vector> vectors;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    auto own = normal_matrix(side, side, 100 + rank);
    std::transform(own.begin(), own.end(), common.begin(), own.begin(), std::plus<>());
    vectors.push_back(std::move(own));
  }
  return case_of(std::move(vectors));
}

void print_matrices() {
  std::printf(
      "\nMatrices of %zu x %zu with falling singular values, and as much noise of each "
      "rank's: error in %% of the first call and of the tenth; beside the best of that "
      "rank, which a singular value decomposition of the sum has.\n",
      side, side);
  std::vector<Case> cases;
  std::vector<std::vector<double>> values;
  for (const auto ranks : worlds) {
    cases.push_back(matrices(ranks));
    values.push_back(host::sketch::test::singular_values(cases.back().exact, side));
  }
  const auto index = [](std::uint32_t ranks) {
    return static_cast<std::size_t>(std::countr_zero(ranks)) - 1;
  };
  print_head("factors");
  for (const std::size_t rank : {2, 8, 32}) {
    print_row("rank " + std::to_string(rank) + ", the best", [&](std::uint32_t ranks) {
      const auto& of = values[index(ranks)];
      return percent(100 * host::sketch::test::least_error(of, rank) /
                     host::sketch::test::least_error(of, 0));
    });
    for (const unsigned bits : {32u, 16u, 8u, 4u}) {
      const SketchOptions options{SketchKind::grid, bits, Rounding::stochastic, false, 1};
      print_row("rank " + std::to_string(rank) + ", " + std::to_string(bits) + " bits",
                [&](std::uint32_t ranks) -> std::string {
                  if (bits != 32 && Grid::levels_of(bits, ranks) == 0) {
                    return "";
                  }
                  const auto& of = cases[index(ranks)];
                  std::vector<GradientSketch> sketches(ranks,
                                                       GradientSketch({side, side, rank}, options));
                  const auto first = sum_of(of.vectors, sketches, 1);
                  auto three = std::vector<GradientSketch>(
                      ranks, GradientSketch({side, side, rank}, options));
                  const bool same = sum_of(of.vectors, three, 3) == first;
                  for (int call = 2; call < 10; ++call) {
                    sum_of(of.vectors, sketches, 1);
                  }
                  const auto tenth = sum_of(of.vectors, sketches, 1);
                  return percent(error_of(first, of.exact)) + ", " +
                         percent(error_of(tenth, of.exact)) +
                         (same || bits == 32 ? "" : " (not the same by three hops)");
                });
    }
  }
}

// One vector that is as long as a great layer, in place, on two ranks.
void print_long(std::size_t count) {
  std::printf("\n%zu elements, two ranks, one core:", count);
  std::vector<Vector> vectors = {gradient(1, count), gradient(2, count)};
  const auto exact = case_of(vectors).exact;
  std::vector<GradientSketch> sketches(
      2, GradientSketch(count, {SketchKind::grid, 8, Rounding::stochastic, false, 1}));
  const auto began = std::chrono::steady_clock::now();
  carry_out<GridSteps>(vectors, sketches, 1);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(" error %s %%, %.1f s with the sum, %ld MiB of memory at most\n",
              percent(error_of(vectors[0], exact)).c_str(), took.count(), usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (argc > 2 || (!what.empty() && what != "--long")) {
    std::fprintf(stderr, "usage: sketch_errors [--long]   (the latter: of 10^8 elements)\n");
    return 2;
  }
  if (what == "--long") {
    tributary::perf::print_long(100'000'000);
    return 0;
  }
  tributary::perf::print_vectors();
  tributary::perf::print_matrices();
  return 0;
}
