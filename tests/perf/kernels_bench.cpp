// SPDX-License-Identifier: BSD-3-Clause
// The reduction kernels, elements per second: a packet's payload is added to an accumulator, both
// in the first-level cache. Names say KERNEL/TYPE/OPERATOR/PLACE/ELEMENTS; of a handler, what it is
// called here instead of the operator.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "hand_sum.h"
#include "reduce/handlers/expression.h"
#include "reduce/handlers/native.h"
#include "reduce/kernel.h"
#include "run_benchmarks.h"
#include "wire/element.h"

namespace tributary::perf {
namespace {

// 350 floats fill a frame of 1,500 bytes; the rest are whole vectors.
constexpr std::array<std::size_t, 5> element_counts{32, 256, 350, 352, 2048};

// Where buffers begin in their cache lines.
struct Place {
  const char* name;
  std::size_t offset;
};
// Behind the headers of Canary over UDP, in a buffer with the headroom of a packet.
constexpr Place in_packet{"packet", (128 + 14 + 20 + 8 + 64) % 64};
constexpr Place aligned{"aligned", 0};

// Two buffers of zeros, which no operator turns into anything else; the same memory for all, since
// where it lies in its pages counts as well.
class Buffers {
 public:
  explicit Buffers(std::size_t offset) : offset_(offset) {
    std::memset(storage, 0, sizeof storage);
  }

  std::byte* to() { return storage + offset_; }
  std::byte* from() { return storage + distance + offset_; }

 private:
  // Not a multiple of a page, or loads would wait for stores to addresses with the same low bits.
  static constexpr std::size_t distance = 2048 * wire::element_bytes_max + std::size_t{11} * 64;
  alignas(4096) static inline std::byte storage[2 * distance];

  std::size_t offset_;
};

void report(benchmark::State& state, std::size_t elements) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(elements));
}

void run_kernel(benchmark::State& state, wire::ElementType type, wire::Operator op,
                std::size_t offset) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto& kernel = reduce::kernel(type, op);
  Buffers buffers(offset);
  while (state.KeepRunning()) {
    kernel.accumulate(buffers.to(), buffers.from(), n);
    benchmark::ClobberMemory();
  }
  report(state, n);
}

void run_handler(benchmark::State& state, const reduce::Handler& handler, std::size_t offset) {
  const auto n = static_cast<std::size_t>(state.range(0));
  Buffers buffers(offset);
  while (state.KeepRunning()) {
    handler.combine(buffers.to(), buffers.from(), n);
    benchmark::ClobberMemory();
  }
  report(state, n);
}

void run_load_store(benchmark::State& state, wire::ElementType type) {
  const auto n = static_cast<std::size_t>(state.range(0));
  const auto& kernel = reduce::kernel(type, wire::Operator::sum);
  Buffers buffers(in_packet.offset);
  while (state.KeepRunning()) {
    kernel.load(buffers.to(), buffers.from(), n);
    kernel.store(buffers.from(), buffers.to(), n);
    benchmark::ClobberMemory();
  }
  report(state, n);
}

void run_hand(benchmark::State& state, std::size_t offset) {
  const auto n = static_cast<std::size_t>(state.range(0));
  Buffers buffers(offset);
  auto* to = reinterpret_cast<float*>(buffers.to());
  const auto* from = reinterpret_cast<const float*>(buffers.from());
  while (state.KeepRunning()) {
    hand_sum(to, from, n);
    benchmark::ClobberMemory();
  }
  report(state, n);
  state.SetLabel(hand_sum_target());
}

template <typename Run>
void add(const std::string& name, Run run) {
  auto* benchmark = benchmark::RegisterBenchmark(name.c_str(), run);
  for (const auto n : element_counts) {
    benchmark->Arg(static_cast<std::int64_t>(n));
  }
}

std::string name_of(const char* what, wire::ElementType type, wire::Operator op,
                    const Place& place) {
  return std::string(what) + '/' + std::string(wire::name(type)) + '/' + std::string(name(op)) +
         '/' + place.name;
}

using Loaded = tl::expected<std::unique_ptr<reduce::Handler>, std::string>;

// It lives until the process ends.
void add_handler(const std::string& name, Loaded loaded) {
  static std::vector<std::unique_ptr<reduce::Handler>> handlers;
  if (!loaded) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), loaded.error().c_str());
    std::exit(1);
  }
  handlers.push_back(std::move(*loaded));
  const auto& handler = *handlers.back();
  const std::string type(wire::name(handler.type()));
  add("handler/" + type + '/' + name + '/' + in_packet.name,
      [&handler](benchmark::State& state) { run_handler(state, handler, in_packet.offset); });
}

// An expression can hardly be slower: three divisions, and as many of the slowest of the other
// operations as are permitted.
std::string slowest_expression() {
  std::string text = "acc = acc / 3 / 3 / 3";
  for (int i = 0; i < 61; ++i) {
    text += " || in";
  }
  return text;
}

// To compare with accumulate/f32/sum/packet.
void add_handlers() {
  using wire::ElementType;
  add_handler("sum", reduce::compile_expression("acc = acc + in;", ElementType::f32));
  add_handler("saturating_add",
              reduce::compile_expression("acc = clamp(acc + in, -128, 127);", ElementType::i8));
  add_handler("slowest", reduce::compile_expression(slowest_expression(), ElementType::i8));
  for (const std::string name :
       {"saturating_add", "complex_product", "kahan_sum", "sketch_merge", "topk_merge"}) {
    add_handler("native_" + name, reduce::open_native(HANDLER_EXAMPLES "/" + name + ".so"));
  }
}

void add_all() {
  using wire::ElementType;
  using wire::Operator;
  for (const auto& place : {in_packet, aligned}) {
    const auto offset = place.offset;
    add(name_of("hand", ElementType::f32, Operator::sum, place),
        [offset](benchmark::State& state) { run_hand(state, offset); });
    for (std::size_t t = 0; t < wire::element_type_count; ++t) {
      for (std::size_t o = 0; o < wire::operator_count; ++o) {
        const auto type = static_cast<ElementType>(t);
        const auto op = static_cast<Operator>(o);
        if (wire::is_valid(type, op)) {
          add(name_of("accumulate", type, op, place),
              [=](benchmark::State& state) { run_kernel(state, type, op, offset); });
        }
      }
    }
  }
  // Once per block; what is reduced in the element's own format stays where it is.
  for (const auto type :
       {ElementType::f16, ElementType::bf16, ElementType::f8e4m3, ElementType::f8e5m2}) {
    add("load_store/" + std::string(wire::name(type)) + "/packet",
        [type](benchmark::State& state) { run_load_store(state, type); });
  }
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  tributary::perf::add_all();
  tributary::perf::add_handlers();
  return tributary::perf::run_benchmarks(argc, argv);
}
