// SPDX-License-Identifier: BSD-3-Clause
// One core's share of a logical switch without I/O: nanoseconds and time stamp counter cycles per
// packet, by what may grow. Only what the switch does is timed, burst by burst; writing the packets
// before and freeing them afterwards is not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "canary_load.h"
#include "cycles.h"
#include "device.h"
#include "flare_load.h"
#include "frame_load.h"
#include "netreduce_load.h"
#include "panama_load.h"
#include "run_benchmarks.h"
#include "two_cores.h"

namespace tributary::perf {
namespace {

constexpr std::int64_t bursts_min = 1 << 14;
const double rate = cycles_per_second();

// What bursts of one kind have cost, in cycles. Others use the processor as well: the median of
// the bursts is what it takes undisturbed.
class Cost {
 public:
  Cost() { bursts_.reserve(2 * bursts_min); }

  void add(std::uint64_t cycles, std::size_t packets = Device::burst) {
    if (bursts_.size() < bursts_.capacity()) {
      bursts_.push_back(cycles * Device::burst / packets);
    }
  }
  double per_packet() {
    if (bursts_.empty()) {
      return 0;
    }
    const auto middle = bursts_.begin() + static_cast<std::ptrdiff_t>(bursts_.size() / 2);
    std::nth_element(bursts_.begin(), middle, bursts_.end());
    return static_cast<double>(*middle) / Device::burst;
  }

 private:
  std::vector<std::uint64_t> bursts_;
};

// A benchmark's iteration is one burst.
void measure(benchmark::State& state, Device& device, PacketList packets, Cost& cost) {
  const auto begin = read_cycles();
  device.process(std::move(packets));
  const auto cycles = read_cycles() - begin;
  cost.add(cycles);
  state.SetIterationTime(static_cast<double>(cycles) / rate);
  device.settle();
}

void report(benchmark::State& state, double cycles_per_packet) {
  state.counters["cycles/packet"] = cycles_per_packet;
  state.counters["ns/packet"] = cycles_per_packet / rate * 1e9;
}

std::uint64_t figure(const Device& device, std::string_view name) {
  for (const auto& each : device.logical().engines().front().engine->figures()) {
    if (each.name == name) {
      return each.value;
    }
  }
  return 0;
}

void aggregate(benchmark::State& state, const CanaryShape& shape) {
  CanaryLoad load(shape);
  Device device(load.config(), load.packets());
  // A generation before, so that all memory is there and results have been learned from.
  for (std::size_t i = 0; i < load.bursts_per_generation(); ++i) {
    device.process(load.next(device.pool(), Device::burst));
    device.settle();
  }
  Cost contributions;
  Cost results;
  while (state.KeepRunning()) {
    auto packets = load.next(device.pool(), Device::burst);
    measure(state, device, std::move(packets), load.is_result() ? results : contributions);
  }
  const double contribution = contributions.per_packet();
  const double result = results.per_packet();
  report(state, contribution + (result - contribution) / shape.hosts);
  state.counters["cycles/contribution"] = contribution;
  state.counters["cycles/result"] = result;
  state.counters["collisions"] = static_cast<double>(figure(device, "collisions_total"));
}

// Every row whole, so that packets which begin, join and complete it have their share.
template <typename Load, typename Shape>
void aggregate_rows(benchmark::State& state, const Shape& shape) {
  Load load(shape);
  Device device(load.config(), load.packets());
  for (std::size_t i = 0; i < 2 * load.bursts_per_generation(); ++i) {
    device.process(load.next(device.pool(), Device::burst));
    device.settle();
  }
  Cost waiting;
  Cost completing;
  while (state.KeepRunning()) {
    auto packets = load.next(device.pool(), Device::burst);
    const bool last = load.turn() + 1 == shape.ports;
    measure(state, device, std::move(packets), last ? completing : waiting);
  }
  if (device.logical().ledger().dropped() > 0) {
    state.SkipWithError("packets were dropped");
  }
  const double waits = waiting.per_packet();
  const double completes = completing.per_packet();
  report(state, waits + (completes - waits) / shape.ports);
  state.counters["cycles/contribution"] = waits;
  state.counters["cycles/result"] = completes;
}

// Of a contribution that comes to the core that does not own its block: what that one does, and, of
// the sum that it is in, the owner.
void hand_over_sums(benchmark::State& state, const FlareShape& shape) {
  TwoCores cores(shape);
  Cost gathered;
  Cost merged;
  const auto turn = std::max<std::uint32_t>(1, shape.in_flight / Device::burst);
  for (std::uint32_t i = 0; i < 2 * turn * shape.ports; ++i) {
    cores.here().process(cores.next(Device::burst));
    cores.owner().merge(cores.settle());
  }
  while (state.KeepRunning()) {
    auto packets = cores.next(Device::burst);
    const auto count = packets.size();
    auto begin = read_cycles();
    cores.here().process(std::move(packets));
    const auto cycles = read_cycles() - begin;
    state.SetIterationTime(static_cast<double>(cycles) / rate);
    if (count > 0) {
      gathered.add(cycles, count);
    }
    auto sums = cores.settle();
    if (const auto handed_over = sums.size(); handed_over > 0) {
      begin = read_cycles();
      cores.owner().merge(std::move(sums));
      merged.add(read_cycles() - begin, handed_over);
    }
  }
  const auto here = gathered.per_packet();
  const auto owner = merged.per_packet() / shape.ports;
  report(state, here + owner);
  state.counters["cycles/here"] = here;
  state.counters["cycles/owner"] = owner;
}

template <typename Load>
void forward(benchmark::State& state, Load& load, Device& device) {
  const auto dropped = device.logical().ledger().dropped();
  Cost cost;
  while (state.KeepRunning()) {
    measure(state, device, load.next(device.pool(), Device::burst), cost);
  }
  if (device.logical().ledger().dropped() > dropped) {
    state.SkipWithError("packets were dropped");
  }
  report(state, cost.per_packet());
}

constexpr std::size_t forwarding_packets = 1024;

void bridge(benchmark::State& state, PortIndex ports, std::uint32_t stations) {
  BridgeLoad load(ports, stations);
  Device device(load.config(), forwarding_packets);
  for (std::uint32_t station = 0; station < stations; ++station) {
    device.process(load.introduction(device.pool(), station));
    device.settle();
  }
  forward(state, load, device);
}

void route(benchmark::State& state, PortIndex ports, RouterLoad::Way way,
           std::uint32_t destinations) {
  RouterLoad load(ports, way, destinations);
  Device device(load.config(), forwarding_packets);
  forward(state, load, device);
}

// A fixed number of bursts: of aggregation whole generations, or results would be missing.
template <typename Run>
void add(const std::string& name, std::int64_t bursts, Run run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Iterations(bursts);
}

std::string with(const std::string& name, std::uint32_t value) {
  return name + ':' + std::to_string(value);
}

void add(const std::string& name, const CanaryShape& shape) {
  const auto generation = static_cast<std::int64_t>(CanaryLoad(shape).bursts_per_generation());
  const auto generations = std::max<std::int64_t>(2, bursts_min / generation);
  add(name, generations * generation, [=](auto& state) { aggregate(state, shape); });
}

// Up to so many rows.
template <typename Load, typename Shape>
void add_rows(const std::string& name, std::uint32_t most) {
  for (std::uint32_t rows = 64; rows <= most; rows *= 2) {
    Shape shape;
    shape.in_flight = rows;
    const auto generation = static_cast<std::int64_t>(Load(shape).bursts_per_generation());
    const auto generations = std::max<std::int64_t>(2, bursts_min / generation);
    add(with(name, rows), generations * generation,
        [=](auto& state) { aggregate_rows<Load>(state, shape); });
  }
}

// The paper's ways to add up a block, by the size of the vector that is in flight (6.4): at the
// core that owns it in one buffer or in a tree, or at the core that it comes to.
void add_flare_by_size() {
  for (std::uint32_t kibibytes = 64; kibibytes <= 1024; kibibytes *= 2) {
    FlareShape shape;
    shape.in_flight = kibibytes;  // blocks of 256 floats
    const auto generation = static_cast<std::int64_t>(FlareLoad(shape).bursts_per_generation());
    const auto bursts = std::max<std::int64_t>(2, bursts_min / generation) * generation;
    add(with("flare/single_KiB", kibibytes), bursts,
        [=](auto& state) { aggregate_rows<FlareLoad>(state, shape); });
    add(with("flare/partial_sums_KiB", kibibytes), bursts,
        [=](auto& state) { hand_over_sums(state, shape); });
    shape.reproducible = true;
    add(with("flare/tree_KiB", kibibytes), bursts,
        [=](auto& state) { aggregate_rows<FlareLoad>(state, shape); });
  }
}

void add_netreduce() {
  for (std::uint16_t packets = 64; packets <= 1024;
       packets = static_cast<std::uint16_t>(packets * 4)) {
    NetReduceShape shape;
    shape.message_packets = packets;
    const auto generation = static_cast<std::int64_t>(NetReduceLoad(shape).bursts_per_generation());
    const auto generations = std::max<std::int64_t>(2, bursts_min / generation);
    add(with("netreduce/in_flight", packets), generations * generation,
        [=](auto& state) { aggregate_rows<NetReduceLoad>(state, shape); });
  }
}

void add_aggregation() {
  for (std::uint32_t blocks = 64; blocks <= 32768; blocks *= 2) {
    CanaryShape shape;
    shape.in_flight = blocks;
    add(with("aggregation/in_flight", blocks), shape);
  }
  for (std::uint32_t jobs = 1; jobs <= 64; jobs *= 2) {
    CanaryShape shape;
    shape.in_flight = 1024;
    shape.jobs = jobs;
    add(with("aggregation/jobs", jobs), shape);
  }
  for (PortIndex ports = 2; ports <= 64; ports = static_cast<PortIndex>(ports * 2)) {
    CanaryShape shape;
    shape.in_flight = 1024;
    shape.jobs = 8;
    shape.ports = ports;
    add(with("aggregation/ports", ports), shape);
  }
}

void add_forwarding() {
  constexpr std::uint32_t sizes[] = {64, 1'000, 10'000, 100'000};
  for (PortIndex ports = 2; ports <= 64; ports = static_cast<PortIndex>(ports * 2)) {
    add(with("bridge/ports", ports), bursts_min, [=](auto& state) { bridge(state, ports, 64); });
    add(with("router/ports", ports), bursts_min,
        [=](auto& state) { route(state, ports, RouterLoad::Way::routes, 64); });
  }
  for (const auto size : sizes) {
    add(with("bridge/stations", size), bursts_min, [=](auto& state) { bridge(state, 8, size); });
    add(with("router/routes", size), bursts_min,
        [=](auto& state) { route(state, 8, RouterLoad::Way::routes, size); });
    add(with("router/stations", size), bursts_min,
        [=](auto& state) { route(state, 8, RouterLoad::Way::stations, size); });
  }
}

}  // namespace
}  // namespace tributary::perf

int main(int argc, char** argv) {
  tributary::perf::add_aggregation();
  tributary::perf::add_rows<tributary::perf::PanamaLoad, tributary::perf::PanamaShape>(
      "panama/in_flight", 8192);
  tributary::perf::add_rows<tributary::perf::FlareLoad, tributary::perf::FlareShape>(
      "flare/in_flight", tributary::wire::flare_window_max);
  tributary::perf::add_flare_by_size();
  tributary::perf::add_netreduce();
  tributary::perf::add_forwarding();
  return tributary::perf::run_benchmarks(argc, argv);
}
