// SPDX-License-Identifier: BSD-3-Clause
// What no switch can do without that checks what it adds up: the CRCs and the additions of Canary's
// packets, and nothing else. With what receiving takes, a bound of what one core can reach. Names
// say arithmetic/WORKERS/ELEMENTS.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "cycles.h"
#include "reduce/kernel.h"
#include "wire/canary.h"
#include "wire/checksum.h"

namespace tributary::perf {
namespace {

constexpr std::size_t blocks = 64;  // in flight
constexpr std::size_t headers_bytes = 128 + 14 + 20 + 8;  // headroom and what is before Canary's

// A buffer for each block in flight and each packet of a row, a little more than a page apart in
// large frames, as in a pool.
class Memory {
 public:
  explicit Memory(std::size_t elements)
      : payload_(elements * sizeof(float)),
        stride_((headers_bytes + sizeof(wire::CanaryHeader) + payload_ + 191) / 64 * 64),
        bytes_(2 * blocks * stride_) {}

  std::byte* accumulator(std::size_t block) { return payload_of(block); }
  std::span<const std::byte> header(std::size_t block) {
    return {payload_of(blocks + block) - sizeof(wire::CanaryHeader), sizeof(wire::CanaryHeader)};
  }
  std::span<const std::byte> payload(std::size_t block) {
    return {payload_of(blocks + block), payload_};
  }

 private:
  std::byte* payload_of(std::size_t buffer) {
    return bytes_.data() + buffer * stride_ + headers_bytes + sizeof(wire::CanaryHeader);
  }

  std::size_t payload_;
  std::size_t stride_;
  std::vector<std::byte> bytes_;
};

void check(Memory& memory, std::size_t block) {
  benchmark::DoNotOptimize(wire::crc32(0, memory.header(block)));
  benchmark::DoNotOptimize(wire::crc32(0, memory.payload(block)));
}

// All blocks once: their first contributions, which are the accumulators, those that join, the sums
// that are sealed, and the results.
void reduce_all(Memory& memory, const reduce::Kernel& kernel, std::int64_t workers,
                std::size_t elements) {
  for (std::int64_t turn = 0; turn <= workers; ++turn) {
    const bool joins = turn > 0 && turn < workers - 1;
    for (std::size_t block = 0; block < blocks; ++block) {
      check(memory, block);
      if (joins) {
        kernel.accumulate(memory.accumulator(block), memory.payload(block).data(), elements);
      }
    }
  }
}

void arithmetic(benchmark::State& state) {
  const auto workers = state.range(0);
  const auto elements = static_cast<std::size_t>(state.range(1));
  const auto& kernel = reduce::kernel(wire::ElementType::f32, wire::Operator::sum);
  Memory memory(elements);
  const auto begin = read_cycles();
  while (state.KeepRunning()) {
    reduce_all(memory, kernel, workers, elements);
  }
  const auto cycles = static_cast<double>(read_cycles() - begin);
  // As the switch counts them: what it receives.
  const auto packets = state.iterations() * workers * static_cast<std::int64_t>(blocks);
  state.counters["cycles/packet"] = cycles / static_cast<double>(packets);
}
BENCHMARK(arithmetic)
    ->Args({8, 256})
    ->Args({8, 32})
    ->Args({8, 350})
    ->Args({8, 2048})
    ->Args({2, 256})
    ->Args({16, 256});

}  // namespace
}  // namespace tributary::perf

BENCHMARK_MAIN();
