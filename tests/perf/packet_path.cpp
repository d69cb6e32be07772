// SPDX-License-Identifier: BSD-3-Clause
// Sends packets of each kind through a logical switch, for callgrind to count instructions: only
// what the switch does is collected, and dumped under the name of the kind. check_instructions runs
// it; on standard output it says how many packets of each kind there were.
#include <cstdint>
#include <cstdio>
#include <valgrind/callgrind.h>

#include "canary_load.h"
#include "device.h"
#include "flare_load.h"
#include "frame_load.h"
#include "netreduce_load.h"
#include "panama_load.h"
#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/frames.h"
#include "support/roce_packets.h"
#include "two_cores.h"

namespace tributary::perf {
namespace {

constexpr std::size_t rounds = 20;
constexpr std::size_t warm_up_rounds = 4;

void collect(Device& device, PacketList packets) {
  CALLGRIND_TOGGLE_COLLECT;
  device.process(std::move(packets));
  CALLGRIND_TOGGLE_COLLECT;
}

void report(const char* kind, std::size_t packets) {
  CALLGRIND_DUMP_STATS_AT(kind);
  std::printf("%s %zu\n", kind, packets);
}

// The packets of the turns `first` to `last` of each block.
template <typename Load>
void count_turns(const char* kind, Load&& load, std::uint32_t first, std::uint32_t last) {
  Device device(load.config(), load.packets());
  const auto bursts = load.bursts_per_generation();
  std::size_t counted = 0;
  for (std::size_t i = 0; i < (warm_up_rounds + rounds) * bursts; ++i) {
    auto packets = load.next(device.pool(), Device::burst);
    if (i >= warm_up_rounds * bursts && load.turn() >= first && load.turn() <= last) {
      counted += packets.size();
      collect(device, std::move(packets));
    } else {
      device.process(std::move(packets));
    }
    device.settle();
  }
  report(kind, counted);
}

void count_aggregation() {
  const CanaryShape f32;
  const std::uint32_t result = f32.hosts - 1u;
  const std::uint32_t completing = result - 1;
  count_turns("contribution-begins", CanaryLoad(f32), 0, 0);
  count_turns("contribution-joins", CanaryLoad(f32), 1, completing - 1);
  count_turns("contribution-completes", CanaryLoad(f32), completing, completing);
  count_turns("result-to-seven-children", CanaryLoad(f32), result, result);
  CanaryLoad passing(f32);
  passing.set_bypass(true);
  count_turns("contribution-passes", passing, 0, completing);
  CanaryShape bf16;
  bf16.type = wire::ElementType::bf16;
  bf16.elements = 512;
  count_turns("contribution-joins-bf16", CanaryLoad(bf16), 1, completing - 1);
}

void count_panama() {
  const PanamaShape f32;
  const std::uint32_t completing = f32.ports - 1u;
  count_turns("panama-begins", PanamaLoad(f32), 0, 0);
  count_turns("panama-joins", PanamaLoad(f32), 1, completing - 1);
  count_turns("panama-completes-to-eight-children", PanamaLoad(f32), completing, completing);
  PanamaShape bf16;
  bf16.type = wire::ElementType::bf16;
  bf16.elements = 512;
  count_turns("panama-joins-bf16", PanamaLoad(bf16), 1, completing - 1);
}

// What the check sum of one packet takes: of a gradient it is checked when the packet comes and
// computed anew when it goes.
void count_icrc() {
  NetReduceLoad load({});
  Device device(load.config(), load.packets());
  std::size_t counted = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    auto packets = load.next(device.pool(), Device::burst);
    counted += packets.size();
    while (const auto packet = packets.pop()) {
      CALLGRIND_TOGGLE_COLLECT;
      test::reseal_roce(*packet);
      CALLGRIND_TOGGLE_COLLECT;
    }
  }
  report("netreduce-icrc-alone", counted);
}

// Whoever can send as a rank can begin a run, also where a ring has as much memory as it may have.
void count_new_runs() {
  NetReduceShape shape;
  shape.message_packets = 2048;
  shape.mtu = 256;
  NetReduceLoad load(shape);
  Device device(load.config(), 1024);
  for (std::size_t i = 0; i < rounds; ++i) {
    collect(device, load.begin_runs(device.pool(), Device::burst));
    device.settle();
  }
  report("netreduce-begins-a-run", rounds * Device::burst);
}

void count_netreduce() {
  const NetReduceShape f32;
  const std::uint32_t completing = f32.ports - 1u;
  count_turns("netreduce-waits", NetReduceLoad(f32), 0, completing - 1);
  count_turns("netreduce-completes-for-eight", NetReduceLoad(f32), completing, completing);
  NetReduceShape bf16;
  bf16.type = wire::ElementType::bf16;
  count_turns("netreduce-completes-for-eight-bf16", NetReduceLoad(bf16), completing, completing);
  count_icrc();
  count_new_runs();
}

void count_flare() {
  const FlareShape f32;
  const std::uint32_t completing = f32.ports - 1u;
  count_turns("flare-begins", FlareLoad(f32), 0, 0);
  count_turns("flare-joins", FlareLoad(f32), 1, completing - 1);
  count_turns("flare-completes-to-eight-children", FlareLoad(f32), completing, completing);
  FlareShape reproducible;
  reproducible.reproducible = true;
  count_turns("flare-joins-reproducibly", FlareLoad(reproducible), 1, completing - 1);
  FlareShape bf16;
  bf16.type = wire::ElementType::bf16;
  bf16.elements = 512;
  count_turns("flare-joins-bf16", FlareLoad(bf16), 1, completing - 1);
}

// A turn of each block is what is processed at once.
constexpr FlareShape shape_of_two_cores{.in_flight = 2 * Device::burst};
constexpr auto turns_of_two_cores = rounds * shape_of_two_cores.ports;
constexpr auto warm_up_turns = warm_up_rounds * shape_of_two_cores.ports;

// What the first core does in these turns.
void count_gathering(const char* kind, const FlareShape& shape, std::uint32_t first,
                     std::uint32_t last) {
  TwoCores cores(shape);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < warm_up_turns + turns_of_two_cores; ++i) {
    auto packets = cores.next(shape_of_two_cores.in_flight);
    if (i >= warm_up_turns && cores.turn() >= first && cores.turn() <= last) {
      counted += packets.size();
      collect(cores.here(), std::move(packets));
    } else {
      cores.here().process(std::move(packets));
    }
    cores.owner().merge(cores.settle());
  }
  report(kind, counted);
}

// What the second one does for each sum.
void count_merging(const char* kind) {
  TwoCores cores(shape_of_two_cores);
  std::size_t counted = 0;
  for (std::size_t i = 0; i < warm_up_turns + turns_of_two_cores; ++i) {
    cores.here().process(cores.next(shape_of_two_cores.in_flight));
    auto sums = cores.settle();
    if (i < warm_up_turns) {
      cores.owner().merge(std::move(sums));
      continue;
    }
    counted += sums.size();
    CALLGRIND_TOGGLE_COLLECT;
    cores.owner().merge(std::move(sums));
    CALLGRIND_TOGGLE_COLLECT;
  }
  report(kind, counted);
}

void count_partial_sums() {
  const std::uint32_t last = shape_of_two_cores.ports - 1u;
  count_gathering("flare-begins-for-another-core", shape_of_two_cores, 0, 0);
  count_gathering("flare-joins-for-another-core", shape_of_two_cores, 1, last - 1);
  count_gathering("flare-hands-over-a-sum", shape_of_two_cores, last, last);
  auto reproducible = shape_of_two_cores;
  reproducible.reproducible = true;
  count_gathering("flare-passes-on", reproducible, 0, last);
  count_merging("flare-merges-to-eight-children");
}

template <typename Load>
void count_forwarding(const char* kind, Load& load, Device& device) {
  for (std::size_t i = 0; i < warm_up_rounds; ++i) {
    device.process(load.next(device.pool(), Device::burst));
    device.settle();
  }
  for (std::size_t i = 0; i < rounds; ++i) {
    collect(device, load.next(device.pool(), Device::burst));
    device.settle();
  }
  report(kind, rounds * Device::burst);
}

constexpr std::uint32_t stations = 64;

void introduce(const BridgeLoad& load, Device& device) {
  for (std::uint32_t station = 0; station < stations; ++station) {
    device.process(load.introduction(device.pool(), station));
    device.settle();
  }
}

// All ports are in `vlan`, without tags; 0: the bridge knows no VLANs.
void count_bridge(const char* kind, std::uint16_t vlan) {
  BridgeLoad load(8, stations);
  auto config = load.config();
  for (auto& port : config.ports) {
    port.vlan.untagged = vlan;
  }
  Device device(config, 1024);
  introduce(load, device);
  count_forwarding(kind, load, device);
}

// The frames of a bridge without VLANs have a priority, and there is an engine.
class PriorityTagged {
 public:
  explicit PriorityTagged(BridgeLoad& load) : load_(load) {}

  PacketList next(PacketPool& pool, std::size_t count) {
    PacketList frames;
    for (auto plain = load_.next(pool, count); !plain.empty();) {
      frames.push(test::tagged(plain.pop(), 5u << wire::vlan_priority_shift));
    }
    return frames;
  }

 private:
  BridgeLoad& load_;
};

void count_priority_tagged() {
  BridgeLoad load(8, stations);
  auto config = load.config();
  config.protocols.emplace<canary::CanaryConfig>();
  Device device(config, 1024);
  introduce(load, device);
  PriorityTagged tagged(load);
  count_forwarding("bridge-priority-tagged-beside-an-engine", tagged, device);
}

void count_router(const char* kind, RouterLoad::Way way) {
  RouterLoad load(8, way, 1000);
  Device device(load.config(), 1024);
  count_forwarding(kind, load, device);
}

void count_router6() {
  Router6Load load(8, 1000);
  Device device(load.config(), 1024);
  count_forwarding("router-route-ipv6", load, device);
}

// What ordinary traffic pays for the protocols that are on.
void count_beside_engines() {
  RouterLoad load(8, RouterLoad::Way::routes, 1000);
  auto config = load.config();
  config.protocols.emplace<canary::CanaryConfig>();
  config.protocols.emplace<panama::PanamaConfig>();
  config.protocols.emplace<netreduce::NetReduceConfig>();
  config.protocols.emplace<flare::FlareConfig>();
  Device device(config, 1024);
  count_forwarding("router-route-beside-engines", load, device);
}

}  // namespace
}  // namespace tributary::perf

int main() {
  using namespace tributary::perf;
  std::printf("compiled-by %s\n", TRIBUTARY_COMPILED_BY);
  count_aggregation();
  count_panama();
  count_netreduce();
  count_flare();
  count_partial_sums();
  count_bridge("bridge", 0);
  count_bridge("bridge-in-a-vlan", 10);
  count_priority_tagged();
  count_router("router-station", RouterLoad::Way::stations);
  count_router("router-route", RouterLoad::Way::routes);
  count_beside_engines();
  count_router("router-between-vlans", RouterLoad::Way::vlans);
  count_router6();
  return 0;
}
