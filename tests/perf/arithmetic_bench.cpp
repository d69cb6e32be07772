// SPDX-License-Identifier: BSD-3-Clause
// What no switch can do without that checks what it adds up: the CRCs and the additions of Canary's
// packets, and nothing else. With what receiving takes, a bound of what one core can reach; with
// many blocks in flight, what memory takes of it. Names say arithmetic/WORKERS/ELEMENTS/BLOCKS.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>

#include "cycles.h"
#include "protocols/canary/wire.h"
#include "reduce/kernel.h"
#include "wire/crc32.h"

namespace tributary::perf {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t packets = 64;  // that lie in the cache while they are looked at
constexpr std::size_t headers_bytes = 128 + 14 + 20 + 8;  // headroom and what is before Canary's

// A buffer for each packet, and for each block in flight, as in a pool.
class Memory {
 public:
  Memory(std::size_t elements, std::size_t blocks)
      : payload_(elements * sizeof(float)),
        stride_((headers_bytes + sizeof(wire::CanaryHeader) + payload_) / cache_line * cache_line +
                3 * cache_line),
        blocks_(blocks),
        bytes_((packets + blocks) * stride_) {}

  std::size_t blocks() const { return blocks_; }
  std::byte* accumulator(std::size_t block) { return payload_of(packets + block); }
  std::span<const std::byte> header(std::size_t packet) {
    return {payload_of(packet % packets) - sizeof(wire::CanaryHeader), sizeof(wire::CanaryHeader)};
  }
  std::span<const std::byte> payload(std::size_t packet) {
    return {payload_of(packet % packets), payload_};
  }
  // As the engine does, some packets before it is needed.
  void prefetch(std::size_t block) {
    for (std::size_t at = 0; block < blocks_ && at < payload_; at += cache_line) {
      __builtin_prefetch(accumulator(block) + at);
    }
  }

 private:
  std::byte* payload_of(std::size_t buffer) {
    return bytes_.data() + buffer * stride_ + headers_bytes + sizeof(wire::CanaryHeader);
  }

  std::size_t payload_;
  std::size_t stride_;
  std::size_t blocks_;
  std::vector<std::byte> bytes_;
};

void check(Memory& memory, std::size_t packet) {
  benchmark::DoNotOptimize(wire::crc32_pair(memory.header(packet), memory.payload(packet)));
}

// All blocks once: their first contributions, which are the accumulators, those that join, the sums
// that are sealed, and the results.
void reduce_all(Memory& memory, const reduce::Kernel& kernel, std::int64_t workers,
                std::size_t elements) {
  constexpr std::size_t ahead = 3;
  for (std::int64_t turn = 0; turn <= workers; ++turn) {
    const bool joins = turn > 0 && turn < workers - 1;
    for (std::size_t block = 0; block < memory.blocks(); ++block) {
      check(memory, block);
      if (joins) {
        memory.prefetch(block + ahead);
        kernel.accumulate(memory.accumulator(block), memory.payload(block).data(), elements);
      }
    }
  }
}

void arithmetic(benchmark::State& state) {
  const auto workers = state.range(0);
  const auto elements = static_cast<std::size_t>(state.range(1));
  const auto blocks = static_cast<std::size_t>(state.range(2));
  const auto& kernel = reduce::kernel(wire::ElementType::f32, wire::Operator::sum);
  Memory memory(elements, blocks);
  const auto begin = read_cycles();
  while (state.KeepRunning()) {
    reduce_all(memory, kernel, workers, elements);
  }
  const auto cycles = static_cast<double>(read_cycles() - begin);
  // As the switch counts them: what it receives.
  const auto received = state.iterations() * workers * state.range(2);
  state.counters["cycles/packet"] = cycles / static_cast<double>(received);
}
BENCHMARK(arithmetic)
    ->Args({8, 256, 64})
    ->Args({8, 32, 64})
    ->Args({8, 350, 64})
    ->Args({8, 2048, 64})
    ->Args({2, 256, 64})
    ->Args({16, 256, 64})
    ->Args({8, 256, 32768});

}  // namespace
}  // namespace tributary::perf

BENCHMARK_MAIN();
