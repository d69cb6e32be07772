// SPDX-License-Identifier: BSD-3-Clause
// What sketches of gradients cost a rank, in bytes of floats per second of one core. Names say
// SKETCH/ROUNDING/BITS/WHAT/ELEMENTS, and factors/RANK/WHAT/ELEMENTS of square matrices.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <hwy/contrib/sort/vqsort.h>

#include "host/sketch/chance.h"
#include "host/sketch/factors.h"
#include "host/sketch/grid.h"
#include "host/sketch/quantiles.h"
#include "run_benchmarks.h"

namespace tributary::perf {
namespace {

using namespace host::sketch;

constexpr std::uint32_t world = 8;
constexpr std::int64_t elements = 1 << 20;  // 4 MiB
constexpr std::int64_t long_elements = 100'000'000;
constexpr std::int64_t sorted_elements = 1 << 16;  // the most whose quantiles are exact
constexpr std::int64_t layer_elements = 1 << 12;

std::vector<float> gradient(std::size_t n) {
  std::vector<float> made(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto bits = mixed(i);
    const float magnitude = -std::log1p(-static_cast<float>(bits >> 40) * 0x1p-24f);
    made[i] = (bits & 1) != 0 ? magnitude : -magnitude;
  }
  return made;
}

template <typename Turn>
void measure(benchmark::State& state, Turn turn) {
  while (state.KeepRunning()) {
    turn();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) *
                          static_cast<std::int64_t>(sizeof(float)));
}

struct OnGrid {
  OnGrid(std::size_t n, unsigned bits)
      : grid(bits, bits == 4 ? 4 : world),
        floats(gradient(n)),
        out(n),
        bounds(chunks_of(n)),
        integers(grid.bytes_of(n)) {
    grid.find_bounds(bounds, floats);
  }
  void encode(const Chance* by) {
    grid.find_bounds(bounds, floats);
    grid.quantise(integers.data(), floats, bounds, by);
  }

  Grid grid;
  std::vector<float> floats;
  std::vector<float> out;
  std::vector<std::int16_t> bounds;
  std::vector<std::byte> integers;
};

benchmark::internal::Benchmark* add(const std::string& name,
                                    void (*run)(benchmark::State&, unsigned, Rounding),
                                    unsigned bits, Rounding rounding) {
  return benchmark::RegisterBenchmark(name.c_str(),
                                      [=](benchmark::State& state) { run(state, bits, rounding); })
      ->Arg(elements)
      ->Arg(long_elements);
}

constexpr Chance chance = {1, 2};
const Chance* by(Rounding rounding) {
  return rounding == Rounding::stochastic ? &chance : nullptr;
}

void grid_encode(benchmark::State& state, unsigned bits, Rounding rounding) {
  OnGrid on(static_cast<std::size_t>(state.range(0)), bits);
  measure(state, [&] { on.encode(by(rounding)); });
}
void grid_decode(benchmark::State& state, unsigned bits, Rounding rounding) {
  OnGrid on(static_cast<std::size_t>(state.range(0)), bits);
  on.encode(by(rounding));
  measure(state, [&] { on.grid.restore(on.out, on.integers.data(), on.bounds); });
}

void quantiles_find(benchmark::State& state, unsigned bits, Rounding rounding) {
  const auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  measure(state, [&] { benchmark::DoNotOptimize(quantiles_of(floats, bits, rounding)); });
}
// What it would take to have them exactly.
void sort_all(benchmark::State& state) {
  const auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  auto sorted = floats;
  const hwy::Sorter sort;
  measure(state, [&] {
    sorted = floats;
    sort(sorted.data(), sorted.size(), hwy::SortAscending());
  });
}
void quantiles_encode(benchmark::State& state, unsigned bits, Rounding rounding) {
  const auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  const auto quantiles = quantiles_of(floats, bits, rounding);
  std::vector<std::byte> codes(packed_bytes(floats.size(), bits));
  measure(state, [&] { encode(codes.data(), floats, quantiles, by(rounding)); });
}
// All that a rank does with a vector before it is sent.
void quantiles_sketch(benchmark::State& state, unsigned bits, Rounding rounding) {
  const auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  std::vector<std::byte> codes(packed_bytes(floats.size(), bits));
  measure(state, [&] {
    encode(codes.data(), floats, quantiles_of(floats, bits, rounding), by(rounding));
  });
}
void quantiles_decode(benchmark::State& state, unsigned bits, Rounding rounding) {
  auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  const auto quantiles = quantiles_of(floats, bits, rounding);
  std::vector<std::byte> codes(packed_bytes(floats.size(), bits));
  encode(codes.data(), floats, quantiles, by(rounding));
  measure(state, [&] { decode(floats, codes.data(), quantiles.values, bits); });
}

// What a rank does with a matrix, but for the sums.
struct Factored {
  explicit Factored(std::size_t n, std::size_t rank)
      : shape{static_cast<std::size_t>(std::sqrt(static_cast<double>(n))), 0, rank} {
    shape.columns = n / shape.rows;
    matrix = gradient(shape.rows * shape.columns);
    left.resize(left_elements(shape));
    right.resize(right_elements(shape));
    draw_missing(right, shape.columns, 1);
  }
  void encode() {
    times(left, matrix, right, shape);
    orthonormalise(left, shape.rows);
    transposed_times(right, matrix, left, shape);
    normalise(right, shape.columns);  // for the next call
  }

  LowRank shape;
  std::vector<float> matrix;
  std::vector<float> left;
  std::vector<float> right;
};

void add_factors(std::size_t rank) {
  const auto name = "factors/" + std::to_string(rank) + "/";
  benchmark::RegisterBenchmark((name + "encode").c_str(), [rank](benchmark::State& state) {
    Factored of(static_cast<std::size_t>(state.range(0)), rank);
    measure(state, [&] { of.encode(); });
  })->Arg(elements);
  benchmark::RegisterBenchmark((name + "keep").c_str(), [rank](benchmark::State& state) {
    Factored of(static_cast<std::size_t>(state.range(0)), rank);
    measure(state, [&] { subtract(of.matrix, of.left, of.right, of.shape); });
  })->Arg(elements);
  benchmark::RegisterBenchmark((name + "decode").c_str(), [rank](benchmark::State& state) {
    Factored of(static_cast<std::size_t>(state.range(0)), rank);
    measure(state, [&] { expand(of.matrix, of.left, of.right, of.shape); });
  })->Arg(elements);
}

void add_all() {
  benchmark::RegisterBenchmark("quantiles/sort", sort_all)
      ->Arg(layer_elements)
      ->Arg(sorted_elements)
      ->Arg(elements)
      ->Arg(long_elements);
  for (const std::size_t rank : {1, 4, 16, 64}) {
    add_factors(rank);
  }
  for (const auto rounding : {Rounding::nearest, Rounding::stochastic}) {
    const std::string how = rounding == Rounding::nearest ? "nearest" : "stochastic";
    for (const unsigned bits : {16u, 8u, 4u}) {
      const auto name = "grid/" + how + "/" + std::to_string(bits) + "/";
      add(name + "encode", grid_encode, bits, rounding);
      add(name + "decode", grid_decode, bits, rounding);
    }
    for (const unsigned bits : {8u, 4u, 2u}) {
      const auto name = "quantiles/" + how + "/" + std::to_string(bits) + "/";
      add(name + "find", quantiles_find, bits, rounding)->Arg(sorted_elements)->Arg(layer_elements);
      add(name + "encode", quantiles_encode, bits, rounding);
      add(name + "sketch", quantiles_sketch, bits, rounding)
          ->Arg(sorted_elements)
          ->Arg(layer_elements);
      add(name + "decode", quantiles_decode, bits, rounding);
    }
  }
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  tributary::perf::add_all();
  return tributary::perf::run_benchmarks(argc, argv);
}
