// SPDX-License-Identifier: BSD-3-Clause
// Nothing on the packet path allocates, from the first packet on: whatever comes in, a switch makes
// do with what it took when it was made.
#include <cstdint>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "addresses.h"
#include "canary_load.h"
#include "device.h"
#include "flare_load.h"
#include "frame_load.h"
#include "interpose_allocations.h"
#include "protocols/canary/engine/config.h"
#include "reduce/handlers/expression.h"
#include "reduce/handlers/native.h"
#include "support/canary_packets.h"
#include "support/frames.h"

namespace tributary::perf {
namespace {

using namespace std::chrono_literals;

// Tests have one thread.
std::size_t allocations = 0;

// Drives a device and counts what it allocates meanwhile.
class Watched {
 public:
  Watched(const switching::SwitchConfig& config, std::size_t packets,
          switching::CoreShare share = {})
      : device_(config, packets, share) {
    device_.process({});  // the output of a core makes room for the others once
  }
  ~Watched() { EXPECT_EQ(allocated_, 0u); }

  PacketPool& pool() { return device_.pool(); }
  const Ledger& ledger() const { return device_.logical().ledger(); }
  std::uint64_t drops(DropReason reason) const {
    return ledger().drops[static_cast<std::size_t>(reason)];
  }
  std::uint64_t figure(std::string_view name) const {
    for (const auto& each : device_.logical().engines().front().engine->figures()) {
      if (each.name == name) {
        return each.value;
      }
    }
    ADD_FAILURE() << "no figure " << name;
    return 0;
  }

  void process(PacketList packets) {
    device_.settle();
    const auto before = allocations;
    device_.process(std::move(packets));
    allocated_ += allocations - before;
  }
  void process(PortIndex port, PacketPtr packet) {
    packet->ingress = port;
    PacketList burst;
    burst.push(std::move(packet));
    process(std::move(burst));
  }
  // Timers are looked at `times` times, `by` apart.
  void pass(Duration by, int times = 1) {
    for (int i = 0; i < times; ++i) {
      device_.settle(by);
      process({});
    }
  }

 private:
  Device device_;
  std::size_t allocated_ = 0;
};

// Blocks from their beginning to `turns` of their contributions and results.
template <typename Load>
void run_turns(Watched& device, Load& load, std::uint32_t in_flight, std::uint32_t turns) {
  for (std::size_t i = 0; i < std::size_t{in_flight} * turns / Device::burst; ++i) {
    device.process(load.next(device.pool(), Device::burst));
  }
}

TEST(Allocation, IsCounted) {
  const auto before = allocations;
  void* volatile some = nullptr;  // or the compiler leaves out what has no effect
  some = std::malloc(100);
  std::free(some);
  some = std::calloc(100, 1);
  some = std::realloc(some, 200);
  std::free(some);
  some = std::aligned_alloc(64, 64);
  std::free(some);
  some = ::operator new(100);
  ::operator delete(some);
  EXPECT_EQ(allocations, before + 5);
}

TEST(Allocation, WholeBlocksOfAllTypes) {
  for (std::size_t type = 0; type < wire::built_in_type_count; ++type) {
    CanaryShape shape;
    shape.type = static_cast<wire::ElementType>(type);
    shape.op = wire::any_operator(shape.type);
    shape.elements = static_cast<std::uint16_t>(1408 / wire::element_bytes(shape.type));
    CanaryLoad load(shape);
    Watched device(load.config(), load.packets());
    run_turns(device, load, shape.in_flight, 3u * shape.hosts);
    EXPECT_EQ(device.figure("results_total"), 3u * shape.in_flight);
    EXPECT_EQ(device.figure("partial_sums_timeout_total"), 0u);
  }
}

// Neither those of tenants nor those that get copies.
TEST(Allocation, Handlers) {
  const auto sum =
      reduce::compile_expression("acc = clamp(acc + in, -128, 127);", wire::ElementType::i8);
  const auto product = reduce::open_native(HANDLER_EXAMPLES "/complex_product.so");
  ASSERT_TRUE(sum);
  ASSERT_TRUE(product);
  std::vector<std::byte> bytes(2 * 1408 + 1);
  const auto before = allocations;
  for (const auto* const handler : {sum->get(), product->get()}) {
    const auto elements = 1408 / wire::element_bytes(handler->type());
    handler->combine(bytes.data() + 1, bytes.data() + 1409, elements);
  }
  EXPECT_EQ(allocations, before);
}

// Twice as many blocks as the switch has slots for; what is silent is let go of.
TEST(Allocation, WholeBlocksOfFlareOfAllTypes) {
  for (std::size_t type = 0; type < wire::built_in_type_count; ++type) {
    for (const bool reproducible : {false, true}) {
      FlareShape shape;
      shape.type = static_cast<wire::ElementType>(type);
      shape.elements = static_cast<std::uint16_t>(1400 / wire::element_bytes(shape.type));
      shape.reproducible = reproducible;
      FlareLoad load(shape);
      Watched device(load.config(), load.packets());
      run_turns(device, load, shape.in_flight, 4u * shape.ports + 3);
      EXPECT_EQ(device.figure("results_total"), 4u * shape.in_flight);
      EXPECT_EQ(device.figure("blocks_gathering"), shape.in_flight);
      device.pass(11s);
      EXPECT_EQ(device.figure("buffers_in_use"), 0u);
    }
  }
}

// As many as come when several queues and cores have something for a switch.
TEST(Allocation, ThousandsOfPacketsAtOnce) {
  constexpr std::size_t burst = 4096;
  CanaryShape shape;
  shape.in_flight = burst;
  for (const bool bypass : {false, true}) {
    CanaryLoad load(shape);
    load.set_bypass(bypass);
    Watched device(load.config(), load.packets() + burst);
    for (std::uint32_t turn = 0; turn < shape.hosts; ++turn) {
      device.process(load.next(device.pool(), burst));
    }
    EXPECT_EQ(device.ledger().received, burst * shape.hosts);
    EXPECT_GE(device.ledger().forwarded + device.ledger().sent, burst);
  }
}

TEST(Allocation, TimeoutsAndStragglers) {
  CanaryShape shape;
  CanaryLoad load(shape);
  Watched device(load.config(), load.packets());
  run_turns(device, load, shape.in_flight, 4);
  device.pass(60ms);
  EXPECT_EQ(device.figure("partial_sums_timeout_total"), shape.in_flight);
  run_turns(device, load, shape.in_flight, 4);
  EXPECT_EQ(device.figure("stragglers_total"), 3u * shape.in_flight);
  EXPECT_EQ(device.figure("results_total"), shape.in_flight);
}

TEST(Allocation, CollisionsOfManyJobs) {
  CanaryShape shape;
  shape.jobs = 256;
  shape.in_flight = 512;
  shape.descriptors = 64;
  CanaryLoad load(shape);
  Watched device(load.config(), load.packets());
  run_turns(device, load, shape.in_flight, 2u * shape.hosts);
  EXPECT_GT(device.figure("collisions_total") + device.figure("quota_port_total"), 100u);
  EXPECT_GT(device.figure("jobs_untracked_total"), 0u);
}

TEST(Allocation, BlocksThatAreGivenUp) {
  CanaryShape shape;
  shape.descriptors = 64;
  CanaryLoad load(shape);
  Watched device(load.config(), load.packets());
  run_turns(device, load, shape.in_flight, shape.hosts - 1u);
  device.pass(6s, 3);
  EXPECT_GT(device.figure("aged_total"), 0u);
}

// Kinds and fields at random; of few blocks, of which most say the same, so that packets meet.
TEST(Allocation, EveryKindOfCanaryPacket) {
  auto config = CanaryLoad({}).config();
  config.protocols.get<canary::CanaryConfig>().descriptors = 16;
  config.routes = {{{wire::Ipv4Address(), 0}, {station_address(0, 7), station_address(1, 7)}}};
  Watched device(config, 4096);
  std::mt19937 random(1);
  const auto draw = [&](unsigned below) { return static_cast<std::uint8_t>(random() % below); };
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    test::CanarySpec spec;
    spec.encapsulation = static_cast<wire::Encapsulation>(draw(2));
    spec.kind = static_cast<wire::CanaryKind>(1 + draw(7));
    const auto block = draw(8);
    spec.type = static_cast<wire::ElementType>(draw(4) == 0 ? draw(8) : block);
    spec.id = wire::canary_id(block, draw(2));
    spec.job = draw(3);
    spec.counter = test::valid_counter(spec.kind, spec.hosts);
    spec.bypass = draw(8) == 0;
    spec.rank = draw(4);
    spec.fingerprint = draw(20);
    const bool to_switch = spec.kind != wire::CanaryKind::contribution && draw(2) == 0;
    spec.destination = to_switch ? config.address : station_address(block, draw(4) == 0 ? i : 1);
    spec.child_address = station_address(draw(8), draw(3));
    spec.children = 1u << draw(8);
    spec.child_mac = spec.source_mac;
    spec.ip_source = station_address(block, 1);
    spec.switch_ipv4 = config.address;
    spec.switch_address = config.id;
    spec.ingress = draw(8);
    spec.destination_mac = spec.encapsulation == wire::Encapsulation::udp ? port_mac(spec.ingress)
                                                                          : wire::canary_group_mac;
    const std::size_t elements = test::is_without_payload(spec.kind) ? 0 : 16;
    const std::vector<std::byte> payload(elements * wire::element_bytes(spec.type));
    device.process(spec.ingress, test::make_canary(device.pool(), spec, payload));
    device.pass(std::chrono::microseconds(draw(255)));
  }
  for (const auto* name : {"joined_total", "results_total", "restorations_total", "releases_total",
                           "requests_total", "failures_total", "pendings_total"}) {
    EXPECT_GT(device.figure(name), 0u) << name;
  }
}

// What they tell of the roots among which there was a choice is learned from the first one on.
TEST(Allocation, ResultsOfBlocksThatWentUp) {
  auto config = CanaryLoad({}).config();
  config.routes.push_back({{wire::Ipv4Address(11, 0, 0, 0), 8}, {}});
  for (PortIndex port = 1; port < 4; ++port) {
    config.routes[0].via.push_back(station_address(port, 0));
  }
  Watched device(config, 1024);
  for (std::uint32_t id = 0; id < 200; ++id) {
    test::CanarySpec spec;
    spec.id = id;
    spec.hosts = 2;
    spec.rank = 1;
    spec.destination = wire::Ipv4Address(11, 0, 0, 1);
    spec.child_address = station_address(0, 0);
    spec.source_mac = station_mac(0);
    spec.destination_mac = port_mac(0);
    const std::vector<std::byte> payload(64);
    device.process(0, test::make_canary(device.pool(), spec, payload));
    spec.kind = wire::CanaryKind::result;
    spec.counter = 2;
    spec.destination = config.address;
    spec.child_address = wire::Ipv4Address(11, 0, 0, 1);
    spec.destination_mac = port_mac(1);
    spec.congested = id % 3 == 0;
    device.process(1, test::make_canary(device.pool(), spec, payload));
  }
  EXPECT_EQ(device.figure("results_total"), 200u);
}

TEST(Allocation, ABridgeThatLearnsAndFloods) {
  constexpr std::uint32_t stations = 3000;
  BridgeLoad load(8, stations);
  auto config = load.config();
  config.fdb_capacity = stations / 2;
  Watched device(config, 1024, {0, 2});
  for (std::uint32_t station = 0; station < stations; ++station) {
    device.process(load.introduction(device.pool(), station));
    device.process(0, test::make_arp(device.pool(), wire::ArpHeader::request,
                                     {station_mac(station), wire::broadcast_mac,
                                      station_address(0, station), station_address(1, 1)}));
  }
  for (int i = 0; i < 100; ++i) {
    device.process(load.next(device.pool(), Device::burst));
  }
  EXPECT_GT(device.ledger().sent, 1000u) << "copies of floods";
  device.pass(100s, 4);
  device.process(load.next(device.pool(), Device::burst));
}

PacketPtr udp_to(Watched& device, wire::Ipv4Address destination, std::size_t bytes = 32) {
  return test::make_udp(device.pool(),
                        {station_mac(1), port_mac(0), station_address(0, 1), destination}, 1, 2,
                        bytes);
}

TEST(Allocation, ARouterThatResolvesItsNeighbours) {
  constexpr std::uint32_t neighbours = 500;
  Watched device(routed_switch(4), 4096, {0, 2});
  for (std::uint32_t i = 0; i < neighbours; ++i) {
    device.process(0, udp_to(device, station_address(1, i)));
    device.process(0, udp_to(device, station_address(1, i)));
  }
  for (std::uint32_t i = 0; i < neighbours; i += 2) {
    device.process(1, test::make_arp(device.pool(), wire::ArpHeader::reply,
                                     {station_mac(i), port_mac(1), station_address(1, i),
                                      station_address(1, 0xfffd)}));
  }
  EXPECT_GE(device.ledger().sent, neighbours) << "what waited for those that answered";
  device.process(0, test::make_arp(device.pool(), wire::ArpHeader::request,
                                   {station_mac(1), wire::broadcast_mac, station_address(0, 1),
                                    station_address(0, 0xfffd)}));
  device.pass(210ms, 10);
  EXPECT_EQ(device.ledger().losses[static_cast<std::size_t>(DropReason::arp_unresolved)],
            neighbours);
  device.pass(500s, 4);
}

TEST(Allocation, ErrorsOfARouter) {
  Watched device(routed_switch(4), 1024);
  for (int i = 0; i < 100; ++i) {
    device.process(0, udp_to(device, wire::Ipv4Address(99, 0, 0, 1)));
    device.process(0, udp_to(device, wire::Ipv4Address(127, 0, 0, 1)));
    auto last_hop = udp_to(device, station_address(1, 1));
    test::ip_of(*last_hop).ttl = 1;
    wire::finish_ipv4(test::ip_of(*last_hop));
    device.process(0, std::move(last_hop));
    device.process(0, udp_to(device, station_address(1, 1), 1600));
    device.process(
        0, test::make_echo(device.pool(), {station_mac(1), port_mac(0), station_address(0, 1),
                                           station_address(0, 0xfffd)}));
    device.pass(10ms);
  }
  EXPECT_EQ(device.drops(DropReason::no_route), 100u);
  EXPECT_EQ(device.drops(DropReason::ttl_exceeded), 100u);
}

TEST(Allocation, ChoicesAmongNextHopsThatAreWatched) {
  for (const auto policy :
       {forwarding::Policy::ecmp, forwarding::Policy::flowlet, forwarding::Policy::adaptive}) {
    auto config = routed_switch(4);
    config.bfd = forwarding::BfdConfig{};
    config.selection.policies.ordinary = policy;
    config.routes.push_back({{wire::Ipv4Address(11, 0, 0, 0), 8}, {}});
    for (PortIndex port = 1; port < 4; ++port) {
      config.routes[0].via.push_back(station_address(port, 0));
      config.arp.push_back({station_address(port, 0), station_mac(port)});
    }
    Watched device(config, 1024);
    for (std::uint32_t i = 0; i < 3000; ++i) {
      device.process(0, udp_to(device, wire::Ipv4Address((11u << 24) + i)));
      device.pass(2ms);
    }
    EXPECT_EQ(device.ledger().forwarded, 3000u);
    EXPECT_GT(device.ledger().sent, 3u) << "packets of sessions";
  }
}

}  // namespace

void note_allocation() noexcept {
  ++allocations;
}

}  // namespace tributary::perf
