// SPDX-License-Identifier: BSD-3-Clause
// What reproducible sums of floats cost a rank: exponents, integers, and floats again; and keys for
// minima and maxima. Cycles per element, in memory that the caches hold. Names say
// WHAT/TYPE/ELEMENTS.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "cycles.h"
#include "host/element_types.h"
#include "host/exact/formats.h"
#include "host/exact/order.h"
#include "host/exact/quantiser.h"
#include "run_benchmarks.h"
#include "wire/element.h"

namespace tributary::perf {
namespace {

using wire::ElementType;

constexpr std::uint32_t world = 8;
constexpr std::int64_t elements = 16384;  // 128 KiB as integers
constexpr ElementType float_types[] = {ElementType::f32,  ElementType::f64,    ElementType::f16,
                                       ElementType::bf16, ElementType::f8e4m3, ElementType::f8e5m2};

// A vector on its way, of numbers of several octaves.
struct Vector {
  Vector(ElementType type, std::size_t n)
      : quantiser(type, world),
        count(n),
        floats(n * wire::element_bytes(type)),
        integers(n * wire::element_bytes(quantiser.integers())),
        exponents(host::exact::chunks_of(n)) {
    host::exact::with_float(type, [this]<typename T>(T) {
      for (std::size_t i = 0; i < count; ++i) {
        const auto drawn = static_cast<float>(i * 2654435761u % 2001) / 256.0f - 3.9f;
        host::store(floats.data(), i, T(drawn));
      }
    });
    find_exponents();
    quantise();
  }

  void find_exponents() {
    benchmark::DoNotOptimize(quantiser.find_exponents(exponents, floats.data(), count));
  }
  void quantise() { quantiser.quantise(integers.data(), floats.data(), count, exponents); }
  void restore() { quantiser.restore(floats.data(), integers.data(), count, exponents); }

  host::exact::Quantiser quantiser;
  std::size_t count;
  std::vector<std::byte> floats;
  std::vector<std::byte> integers;
  std::vector<std::int32_t> exponents;
};

template <typename Turn>
void measure(benchmark::State& state, Turn turn) {
  const auto begin = read_cycles();
  while (state.KeepRunning()) {
    turn();
    benchmark::ClobberMemory();
  }
  const auto cycles = static_cast<double>(read_cycles() - begin);
  const auto done = static_cast<double>(state.iterations()) * static_cast<double>(state.range(0));
  state.counters["cycles/element"] = cycles / done;
}

void run_sum(benchmark::State& state, ElementType type) {
  Vector vector(type, static_cast<std::size_t>(state.range(0)));
  measure(state, [&vector] {
    vector.find_exponents();
    vector.quantise();
    vector.restore();
  });
}

void run_part(benchmark::State& state, ElementType type, void (Vector::*part)()) {
  Vector vector(type, static_cast<std::size_t>(state.range(0)));
  measure(state, [&vector, part] { (vector.*part)(); });
}

void run_keys(benchmark::State& state, ElementType type) {
  Vector vector(type, static_cast<std::size_t>(state.range(0)));
  auto* const at = vector.floats.data();
  measure(state, [&vector, at, type] {
    host::exact::to_keys(at, at, vector.count, type, wire::Operator::max);
    host::exact::from_keys(at, at, vector.count, type, wire::Operator::max);
  });
}

template <typename Run>
void add(const std::string& what, ElementType type, Run run) {
  const auto name = what + '/' + std::string(wire::name(type));
  benchmark::RegisterBenchmark(name.c_str(), run)->Arg(elements);
}

void add_all() {
  for (const auto type : float_types) {
    add("sum", type, [type](benchmark::State& state) { run_sum(state, type); });
    add("exponents", type,
        [type](benchmark::State& state) { run_part(state, type, &Vector::find_exponents); });
    add("quantise", type,
        [type](benchmark::State& state) { run_part(state, type, &Vector::quantise); });
    add("restore", type,
        [type](benchmark::State& state) { run_part(state, type, &Vector::restore); });
    add("keys", type, [type](benchmark::State& state) { run_keys(state, type); });
  }
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  tributary::perf::add_all();
  return tributary::perf::run_benchmarks(argc, argv);
}
