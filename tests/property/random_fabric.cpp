// SPDX-License-Identifier: BSD-3-Clause
#include "property/random_fabric.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "property/flare_job.h"
#include "property/panama_job.h"
#include "property/ring_job.h"
#include "protocols/canary/engine/config.h"
#include "protocols/panama/wire.h"

namespace tributary::test {
namespace {

wire::Ipv4Address ip(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
  return wire::Ipv4Address{static_cast<std::uint32_t>((a << 24) | (b << 16) | (c << 8) | d)};
}

// Leaves have the numbers from 1, spines from spine_base + 1, roots from root_base + 1: the second
// octet of all their addresses.
constexpr std::uint64_t spine_base = 100;
constexpr std::uint64_t root_base = 200;

forwarding::InterfaceAddress6 embedding(const forwarding::InterfaceAddress& address) {
  return {hosts_prefix.embed(address.address),
          static_cast<std::uint8_t>(wire::EmbeddingPrefix::length + address.length)};
}

void turn_to_ipv6(switching::SwitchConfig& config) {
  config.embedding_prefix = hosts_prefix;
  if (const auto own = std::exchange(config.bridge_address, std::nullopt)) {
    config.bridge_address6 = embedding(*own);
  }
  for (auto& port : config.ports) {
    if (const auto own = std::exchange(port.address, std::nullopt)) {
      port.address6 = embedding(*own);
    }
  }
  for (const auto& [prefix, via, ordinary, reduction] : std::exchange(config.routes, {})) {
    const auto to = embedding({prefix.network, prefix.length});
    auto& route = config.routes6.emplace_back();
    route.prefix = {to.address, to.length};
    std::ranges::transform(via, std::back_inserter(route.via),
                           [](const auto& hop) { return hosts_prefix.embed(hop); });
  }
}

// What has an address of IPv4 has one that embeds it instead.
void turn_to_ipv6(FabricSpec& fabric) {
  for (auto& section : fabric.switches) {
    turn_to_ipv6(section.config);
  }
  for (auto& host : fabric.hosts) {
    host.dress.prefix = hosts_prefix;
  }
}

class Builder {
 public:
  explicit Builder(const Shape& shape)
      : shape_(shape),
        random_(stream_of(shape.seed, Stream::fabric)),
        cables_(stream_of(shape.seed, Stream::cables)) {}

  FabricSpec build() {
    fabric_.seed = shape_.seed;
    fabric_.cores = static_cast<unsigned>(shape_.cores);
    fabric_.ring_loss = static_cast<double>(shape_.ring_loss) / 1e4;
    fabric_.stray = static_cast<double>(shape_.stray) / 1e4;
    fabric_.forged = static_cast<double>(shape_.forged) / 1e4;
    fabric_.marked = static_cast<double>(shape_.marked) / 1e4;
    fabric_.stray_delay = std::chrono::milliseconds(shape_.stray_ms);
    const auto levels = shape_.levels;
    const auto pods = levels > 2 ? shape_.pods : 1;
    const auto leaves = levels > 1 ? pods * shape_.leaves : 1;
    const auto spines = levels > 1 ? pods * shape_.spines : 0;
    const auto roots = levels > 2 ? shape_.spines * shape_.roots : 0;
    fabric_.one_segment = shape_.trunks != 0;
    for (std::uint64_t leaf = 1; leaf <= leaves; ++leaf) {
      add_switch("leaf", leaf, 0);
      add_hosts(leaf);
    }
    for (std::uint64_t spine = 1; spine <= spines; ++spine) {
      add_switch("spine", spine, spine_base);
    }
    for (std::uint64_t root = 1; root <= roots; ++root) {
      add_switch("root", root, root_base);
    }
    first_spine_ = leaves;
    first_root_ = leaves + spines;
    for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
      for (std::uint64_t spine = 0; spine < shape_.spines && levels > 1; ++spine) {
        join(leaf, first_spine_ + leaf / shape_.leaves * shape_.spines + spine);
      }
    }
    for (std::uint64_t spine = 0; spine < spines; ++spine) {
      for (std::uint64_t root = 0; root < shape_.roots && levels > 2; ++root) {
        join(first_spine_ + spine, first_root_ + spine % shape_.spines * shape_.roots + root);
      }
    }
    if (shape_.trunks == 0) {
      add_routes();
    }
    if (shape_.ipv6 != 0) {
      turn_to_ipv6(fabric_);
    }
    set_up_trees(shape_, fabric_);
    set_up_rings(shape_, fabric_);
    set_up_reduction_trees(shape_, fabric_);
    return std::move(fabric_);
  }

 private:
  bool happens(Random& random, std::uint64_t thousandths) { return random() % 1000 < thousandths; }

  switching::SwitchConfig& config(std::uint64_t index) { return fabric_.switches[index].config; }
  std::uint64_t hosts() const {
    const auto leaves =
        shape_.levels > 1 ? shape_.leaves * (shape_.levels > 2 ? shape_.pods : 1) : 1;
    return shape_.hosts * leaves;
  }
  // The second octet of the addresses of a switch.
  static std::uint64_t octet(const switching::SwitchConfig& config) { return config.id; }

  void add_switch(const std::string& kind, std::uint64_t number, std::uint64_t base) {
    control::SwitchSection section;
    auto& config = section.config;
    config.name = kind + std::to_string(number);
    config.id = static_cast<std::uint16_t>(base + number);
    config.address = ip(10, base + number, 255, 1);
    config.fdb_capacity = static_cast<std::uint32_t>(std::max<std::uint64_t>(256, 4 * hosts()));
    config.arp_capacity = static_cast<std::uint32_t>(std::max<std::uint64_t>(64, 2 * hosts()));
    config.classes = classes();
    config.table_seed = random_() | 1;
    config.selection.policies = {static_cast<forwarding::Policy>(shape_.ordinary_policy),
                                 static_cast<forwarding::Policy>(shape_.reduction_policy)};
    config.selection.trees = static_cast<std::uint32_t>(shape_.trees);
    if (!happens(random_, shape_.ordinary)) {
      canary::CanaryConfig canary;
      canary.descriptors = static_cast<std::uint32_t>(shape_.descriptors);
      const Duration timeout = std::chrono::microseconds(shape_.timeout_us);
      if (shape_.adaptive != 0) {
        canary.timeout_max = std::max(timeout, canary.timeout_min);
      } else {
        canary.timeout = timeout;
      }
      canary.job_quota = static_cast<std::uint32_t>(shape_.job_quota);
      canary.port_quota = static_cast<std::uint32_t>(shape_.port_quota);
      canary.partitions = static_cast<std::uint32_t>(shape_.partitions);
      canary.root_timeout = std::chrono::microseconds(shape_.root_timeout_us);
      canary.learn_contributions = shape_.learn != 0;
      canary.reclaim_after = std::chrono::milliseconds(shape_.reclaim_ms);
      canary.age_max = std::chrono::milliseconds(shape_.age_ms);
      canary.hash_seed = random_() | 1;
      config.protocols.emplace<canary::CanaryConfig>(canary);
    }
    if (shape_.trunks != 0) {
      join_segment(config, 8);
    }
    fabric_.switches.push_back(std::move(section));
  }

  // The bridge of a switch is in the hosts' VLAN, with the switch's own address.
  void join_segment(switching::SwitchConfig& config, std::uint8_t prefix_bits) {
    config.bridge_address = forwarding::InterfaceAddress{config.address, prefix_bits};
    config.bridge_vlan = vlan();
  }

  void add_hosts(std::uint64_t leaf) {
    auto& section = fabric_.switches.back();
    const bool bridged = shape_.bridged != 0;
    if (bridged) {
      section.config.address = ip(10, leaf, 0, 254);
      join_segment(section.config, shape_.trunks != 0 ? 8 : 24);
    }
    for (std::uint64_t host = 1; host <= shape_.hosts; ++host) {
      const auto name = "h" + std::to_string(host);
      const auto address = bridged ? ip(10, leaf, 0, host) : ip(10, leaf, host, 2);
      const auto gateway = bridged ? address : ip(10, leaf, host, 1);
      section.config.ports.push_back(make_port(name, true));
      if (bridged) {
        section.config.ports.back().vlan = vlan_of_hosts();
      } else {
        section.config.ports.back().address = forwarding::InterfaceAddress{gateway, 24};
      }
      section.devices.push_back(control::TapDevice{section.config.name + name});
      fabric_.hosts.push_back({section.config.name, name, address, gateway});
      if (shape_.tagged != 0) {
        fabric_.hosts.back().dress.tag = vlan();
      }
    }
  }

  std::uint16_t vlan() const { return static_cast<std::uint16_t>(shape_.vlan); }
  forwarding::VlanConfig trunk() const { return {0, {{{vlan(), vlan()}}}}; }
  forwarding::VlanConfig vlan_of_hosts() const {
    return shape_.tagged != 0 ? trunk() : forwarding::VlanConfig{vlan(), {}};
  }

  // What PANAMA sends goes first. What has no codepoint, as Canary, Flare and NetReduce send it,
  // has half of the line.
  std::vector<forwarding::TrafficClass> classes() const {
    if (shape_.classes == 0) {
      return {};
    }
    return {
        {.name = "first", .codepoints = {forwarding::Codepoint{wire::panama_dscp}}, .strict = true},
        {.name = "half",
         .codepoints = {forwarding::Codepoint{0}},
         .rate_bps = shape_.rate_mbit * 500'000},
        {.name = "rest"}};
  }

  // Each direction of a cable is impaired at one end; between switches that is the receiving end.
  forwarding::PortConfig make_port(const std::string& name, bool to_host) {
    forwarding::PortConfig port;
    port.name = name;
    port.queue.rate_bps = shape_.rate_mbit * 1'000'000;
    port.queue.ecn_threshold_packets = static_cast<std::uint32_t>(shape_.ecn_packets);
    port.queue.classes = classes();
    // Each class has what one queue for all would have: a frame has to fit into it.
    const auto queues = std::max<std::size_t>(port.queue.classes.size(), 1);
    port.queue.capacity_bytes = static_cast<std::uint32_t>(shape_.queue_kib * 1024 * queues);
    for (auto* impair : {&port.impair_in, &port.impair_out}) {
      const bool bad = happens(cables_, shape_.bad_ports);
      const auto up_to = [this](std::uint64_t most) { return cables_() % (most + 1); };
      const auto share = [](std::uint64_t ten_thousandths) {
        return static_cast<double>(ten_thousandths) / 1e4;
      };
      const auto delay = up_to(shape_.delay_us);
      const auto jitter = up_to(shape_.jitter_us);
      if (bad && (to_host || impair == &port.impair_in)) {
        impair->loss = share(shape_.loss);
        impair->duplicate = share(shape_.duplicate);
        impair->reorder = share(shape_.reorder);
        impair->corrupt = share(shape_.corrupt);
        impair->delay = std::chrono::microseconds(delay);
        impair->jitter = std::chrono::microseconds(jitter);
      }
    }
    return port;
  }

  // Adds a cable from a switch to one of the level above.
  void join(std::uint64_t below, std::uint64_t above) {
    const auto down = octet(config(below));
    const auto up = octet(config(above));
    add_end(below, above, ip(10, up, down, 1));
    add_end(above, below, ip(10, up, down, 2));
  }
  void add_end(std::uint64_t here, std::uint64_t there, wire::Ipv4Address address) {
    auto& section = fabric_.switches[here];
    section.config.ports.push_back(make_port(config(there).name, false));
    if (shape_.trunks != 0) {
      section.config.ports.back().vlan = trunk();
    } else {
      section.config.ports.back().address = forwarding::InterfaceAddress{address, 30};
    }
    section.devices.push_back(control::InternalLink{config(there).name, section.config.name});
  }

  // Adds a route at a switch, by a neighbour above or below it, to all addresses of `target`.
  void route(std::uint64_t from, std::uint64_t by, std::uint64_t target) {
    config(from).routes.push_back({{ip(10, octet(config(target)), 0, 0), 16}, {via(from, by)}});
  }
  wire::Ipv4Address via(std::uint64_t from, std::uint64_t by) {
    const bool up = by > from;
    const auto above = octet(config(up ? by : from));
    const auto below = octet(config(up ? from : by));
    return ip(10, above, below, up ? 2 : 1);
  }
  void default_route(std::uint64_t from, const std::vector<std::uint64_t>& ups) {
    std::vector<wire::Ipv4Address> hops;
    std::ranges::transform(ups, std::back_inserter(hops),
                           [&](std::uint64_t up) { return via(from, up); });
    if (!hops.empty()) {
      config(from).routes.push_back({{ip(0, 0, 0, 0), 0}, hops});
    }
  }

  // Hosts are reached by any spine and root; spines and roots are reached by the spine of their
  // plane, so that no packet has to turn around.
  void add_routes() {
    const auto count = fabric_.switches.size();
    const auto spines = first_root_ - first_spine_;
    for (std::uint64_t leaf = 0; leaf < first_spine_; ++leaf) {
      const auto pod_spines = first_spine_ + leaf / shape_.leaves * shape_.spines;
      std::vector<std::uint64_t> ups;
      for (std::uint64_t plane = 0; spines > 0 && plane < shape_.spines; ++plane) {
        ups.push_back(pod_spines + plane);
        for (auto other = first_spine_ + plane; other < first_root_; other += shape_.spines) {
          route(leaf, ups.back(), other);
        }
        for (std::uint64_t root = 0; first_root_ < count && root < shape_.roots; ++root) {
          route(leaf, ups.back(), first_root_ + plane * shape_.roots + root);
        }
      }
      default_route(leaf, ups);
    }
    for (auto spine = first_spine_; spine < first_root_; ++spine) {
      const auto pod = (spine - first_spine_) / shape_.spines;
      const auto plane = (spine - first_spine_) % shape_.spines;
      for (std::uint64_t leaf = 0; leaf < shape_.leaves; ++leaf) {
        route(spine, pod * shape_.leaves + leaf, pod * shape_.leaves + leaf);
      }
      std::vector<std::uint64_t> ups;
      for (std::uint64_t root = 0; first_root_ < count && root < shape_.roots; ++root) {
        ups.push_back(first_root_ + plane * shape_.roots + root);
        route(spine, ups.back(), ups.back());
      }
      default_route(spine, ups);
    }
    for (auto root = first_root_; root < count; ++root) {
      const auto plane = (root - first_root_) / shape_.roots;
      for (std::uint64_t pod = 0; pod < shape_.pods; ++pod) {
        const auto spine = first_spine_ + pod * shape_.spines + plane;
        route(root, spine, spine);
        for (std::uint64_t leaf = 0; leaf < shape_.leaves; ++leaf) {
          route(root, spine, pod * shape_.leaves + leaf);
        }
      }
    }
  }

  const Shape& shape_;
  Random random_;
  Random cables_;
  FabricSpec fabric_;
  std::uint64_t first_spine_ = 0;
  std::uint64_t first_root_ = 0;
};

}  // namespace

FabricSpec make_fabric(const Shape& shape) {
  return Builder(shape).build();
}

}  // namespace tributary::test
