// SPDX-License-Identifier: BSD-3-Clause
// What sketches of gradients cost a rank, in bytes of floats per second of one core. Names say
// SKETCH/ROUNDING/BITS/WHAT/ELEMENTS.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "host/sketch/chance.h"
#include "host/sketch/grid.h"
#include "host/sketch/quantiles.h"
#include "run_benchmarks.h"

namespace tributary::perf {
namespace {

using namespace host::sketch;

constexpr std::uint32_t world = 8;
constexpr std::int64_t elements = 1 << 20;  // 4 MiB

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

void add(const std::string& name, void (*run)(benchmark::State&, unsigned, Rounding), unsigned bits,
         Rounding rounding) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    run(state, bits, rounding);
  })->Arg(elements);
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
void quantiles_encode(benchmark::State& state, unsigned bits, Rounding rounding) {
  const auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  const auto quantiles = quantiles_of(floats, bits, rounding);
  std::vector<std::byte> codes(packed_bytes(floats.size(), bits));
  measure(state, [&] { encode(codes.data(), floats, quantiles, by(rounding)); });
}
void quantiles_decode(benchmark::State& state, unsigned bits, Rounding rounding) {
  auto floats = gradient(static_cast<std::size_t>(state.range(0)));
  const auto quantiles = quantiles_of(floats, bits, rounding);
  std::vector<std::byte> codes(packed_bytes(floats.size(), bits));
  encode(codes.data(), floats, quantiles, by(rounding));
  measure(state, [&] { decode(floats, codes.data(), quantiles.values, bits); });
}

void add_all() {
  for (const auto rounding : {Rounding::nearest, Rounding::stochastic}) {
    const std::string how = rounding == Rounding::nearest ? "nearest" : "stochastic";
    for (const unsigned bits : {16u, 8u, 4u}) {
      const auto name = "grid/" + how + "/" + std::to_string(bits) + "/";
      add(name + "encode", grid_encode, bits, rounding);
      add(name + "decode", grid_decode, bits, rounding);
    }
    for (const unsigned bits : {8u, 4u, 2u}) {
      const auto name = "quantiles/" + how + "/" + std::to_string(bits) + "/";
      add(name + "find", quantiles_find, bits, rounding);
      add(name + "encode", quantiles_encode, bits, rounding);
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
