// SPDX-License-Identifier: BSD-3-Clause
#include "reduce/handlers/budget.h"

#include <algorithm>

namespace tributary::reduce {
namespace {

// The mean is that of so many runs that were measured.
constexpr std::uint64_t runs_per_mean = 32;
// A run counts as this at most: now and then the system interrupts one for milliseconds.
constexpr std::uint64_t cost_max = std::uint64_t{4} * handler_ns_per_kib_max;
// Below it, HandlerSlot::measured has the sum of the costs; above, the number of the runs.
constexpr std::uint64_t one_run = std::uint64_t{1} << 40;
static_assert(runs_per_mean * cost_max < one_run);

std::atomic<ReadNanoseconds> clock_of_runs{nullptr};

// Runs are drawn by lot, as every sixteenth of them could always be of the same kind.
bool is_drawn() {
  thread_local std::uint32_t lot = 1;
  lot = lot * 1664525 + 1013904223;
  return lot >> 28 == 0;
}

// At first each run is measured, so that a handler that is far too slow is closed soon.
bool is_measured(const HandlerSlot& slot) {
  return slot.ns_per_kib.load(std::memory_order_relaxed) == 0 || is_drawn();
}

void add(HandlerSlot& slot, std::uint64_t ns, std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024;
  const auto cost = std::min(ns * kib / std::max(bytes, kib), cost_max);
  const auto all =
      slot.measured.fetch_add(one_run + cost, std::memory_order_relaxed) + one_run + cost;
  if (all / one_run != runs_per_mean) {
    return;
  }
  slot.measured.fetch_sub(all, std::memory_order_relaxed);  // others may have added to it meanwhile
  const auto mean = std::max(all % one_run / runs_per_mean, std::uint64_t{1});
  slot.ns_per_kib.store(static_cast<std::uint32_t>(mean), std::memory_order_relaxed);
  if (mean > handler_ns_per_kib_max) {
    slot.is_too_slow.store(true, std::memory_order_release);
  }
}

}  // namespace

void measure_handlers(ReadNanoseconds clock) {
  clock_of_runs.store(clock, std::memory_order_release);
}

void run(const Handler& handler, HandlerSlot& slot, void* accumulator, const void* elements,
         std::size_t n) {
  const auto read_clock = clock_of_runs.load(std::memory_order_acquire);
  if (read_clock == nullptr || !is_measured(slot)) {
    handler.combine(accumulator, elements, n);
    return;
  }
  const auto begin = read_clock();
  handler.combine(accumulator, elements, n);
  add(slot, read_clock() - begin, n * wire::element_bytes(handler.type()));
}

void measure_anew(HandlerSlot& slot) {
  slot.measured.store(0, std::memory_order_relaxed);
  slot.ns_per_kib.store(0, std::memory_order_relaxed);
  slot.is_too_slow.store(false, std::memory_order_release);
}

}  // namespace tributary::reduce
