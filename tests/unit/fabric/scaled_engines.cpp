// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/scaled_engines.h"

#include <numeric>
#include <utility>
#include <vector>

#include "protocols/canary/host/collectives.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/flare/wire.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/host/collectives.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/host/collectives.h"
#include "protocols/panama/wire.h"
#include "support/aggregation_tree.h"
#include "support/reduction_tree.h"
#include "unit/fabric/ring_ranks.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

// Jobs of PANAMA and Flare may have as many workers as their headers can count.
constexpr std::size_t workers_max = 0xffff;

std::vector<std::size_t> all_hosts(const FabricSpec& spec) {
  std::vector<std::size_t> hosts(spec.hosts.size());
  std::iota(hosts.begin(), hosts.end(), std::size_t{0});
  return hosts;
}

// The fabric has Canary's engine as it is.
void set_up_canary(FabricSpec& /*spec*/, const ThreeLevels& /*shape*/) {}

std::unique_ptr<host::Machine> make_canary(const host::Job& job) {
  return std::make_unique<host::CanaryCollectives>(job);
}

std::uint64_t repeats_of_canary(const host::Machine& machine) {
  const auto& of = static_cast<const host::CanaryCollectives&>(machine).statistics();
  return of.requests_sent + of.replays_sent + of.failures_sent + of.contributions_direct_sent;
}

const wire::Ipv4Address panama_group(0xefc00100u);

void set_up_panama(FabricSpec& spec, const ThreeLevels& /*shape*/) {
  for (auto& section : spec.switches) {
    section.config.protocols.emplace<panama::PanamaConfig>();
  }
  AggregationTree tree;
  tree.job = scaled_job_id;
  tree.group = panama_group;
  tree.hosts = all_hosts(spec);
  tree.root = spec.switches.size() - 1;
  set_up(spec, tree);
}

std::unique_ptr<host::Machine> make_panama(const host::Job& job) {
  host::PanamaPlan plan;
  plan.trees = {panama_group};
  plan.window_max = scaled_window;
  return std::make_unique<host::PanamaCollectives>(job, plan);
}

std::uint64_t repeats_of_panama(const host::Machine& machine) {
  const auto& of = static_cast<const host::PanamaCollectives&>(machine).statistics();
  return of.trees.front().retransmissions_sent;
}

const wire::Ipv4Address flare_group(0xefd00001u);

void set_up_flare(FabricSpec& spec, const ThreeLevels& /*shape*/) {
  for (auto& section : spec.switches) {
    section.config.protocols.emplace<flare::FlareConfig>();
  }
  ReductionTree tree;
  tree.job = scaled_job_id;
  tree.group = flare_group;
  tree.hosts = all_hosts(spec);
  tree.root = spec.switches.size() - 1;
  tree.window = scaled_window;
  set_up(spec, tree);
}

std::unique_ptr<host::Machine> make_flare(const host::Job& job) {
  return std::make_unique<host::FlareCollectives>(job, host::FlarePlan{flare_group, scaled_window});
}

std::uint64_t repeats_of_flare(const host::Machine& machine) {
  return static_cast<const host::FlareCollectives&>(machine).statistics().retransmissions_sent;
}

host::NetReducePlan ring_plan() {
  host::NetReducePlan plan;
  plan.ring = scaled_job_id;
  plan.message_packets = scaled_window / plan.window;
  plan.mtu = scaled_payload_bytes;
  return plan;
}

using Addresses = std::vector<wire::IpAddress>;

// Returns `count` parts of the members, one after the other, from the part `first` on.
std::vector<Addresses> parts_of(const Addresses& members, unsigned first, unsigned count,
                                std::size_t part) {
  std::vector<Addresses> parts;
  for (auto i = first; i < first + count; ++i) {
    const auto begin = members.begin() + static_cast<std::ptrdiff_t>(i * part);
    parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(part));
  }
  return parts;
}

// The ring's packets pass the last spine of each pod, and the last core.
void set_up_netreduce(FabricSpec& spec, const ThreeLevels& shape) {
  auto whole = ring_of(ring_plan());
  for (const auto& host : spec.hosts) {
    whole.members.push_back(host.address);
  }
  const auto leaves = shape.leaves_per_pod;
  const auto switches_per_pod = leaves + shape.spines_per_pod;
  for (unsigned pod = 0; pod < shape.pods; ++pod) {
    auto* const first = &spec.switches[std::size_t{pod} * switches_per_pod];
    auto& spine = first[switches_per_pod - 1];
    auto of_spine = whole;
    of_spine.racks = parts_of(whole.members, pod * leaves, leaves, shape.hosts_per_leaf);
    of_spine.parent = spec.switches.back().config.address;
    for (unsigned leaf = 0; leaf < leaves; ++leaf) {
      auto of_leaf = whole;
      of_leaf.local = of_spine.racks[leaf];
      of_leaf.parent = spine.config.address;
      add_ring(first[leaf], std::move(of_leaf));
    }
    add_ring(spine, std::move(of_spine));
  }
  whole.racks = parts_of(whole.members, 0, shape.pods, std::size_t{leaves} * shape.hosts_per_leaf);
  add_ring(spec.switches.back(), std::move(whole));
}

std::unique_ptr<host::Machine> make_netreduce(const host::Job& job) {
  return make_ring_rank(job, ring_plan());
}

std::uint64_t repeats_of_netreduce(const host::Machine& machine) {
  const auto& of = static_cast<const host::NetReduceCollectives&>(machine).statistics();
  return of.roce.retransmissions_sent;
}

}  // namespace

const ScaledEngine scaled_canary{.name = "canary",
                                 .udp_port = 17000,
                                 .ranks_max = workers_max,
                                 .set_up = set_up_canary,
                                 .make = make_canary,
                                 .repeats = repeats_of_canary,
                                 .packets_held = {"accumulators_high_water"}};
const ScaledEngine scaled_panama{
    .name = "panama",
    .udp_port = wire::panama_udp_port,
    .ranks_max = workers_max,
    .set_up = set_up_panama,
    .make = make_panama,
    .repeats = repeats_of_panama,
    .packets_held = {"packets_held_high_water", "packets_kept_high_water"}};
const ScaledEngine scaled_netreduce{.name = "netreduce",
                                    .udp_port = wire::roce_udp_port,
                                    .ranks_max = netreduce::members_max,
                                    .set_up = set_up_netreduce,
                                    .make = make_netreduce,
                                    .repeats = repeats_of_netreduce};
const ScaledEngine scaled_flare{.name = "flare",
                                .udp_port = wire::flare_udp_port,
                                .ranks_max = workers_max,
                                .set_up = set_up_flare,
                                .make = make_flare,
                                .repeats = repeats_of_flare,
                                .packets_held = {"buffers_high_water"}};

}  // namespace tributary::test
