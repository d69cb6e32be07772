// SPDX-License-Identifier: BSD-3-Clause
#include "property/ring_job.h"

#include <chrono>
#include <map>
#include <stdexcept>
#include <utility>

#include "property/random_fabric.h"
#include "property/seats.h"
#include "protocols/netreduce/engine/config.h"
#include "wire/roce.h"

namespace tributary::test {
namespace {

using Addresses = std::vector<wire::IpAddress>;

// The tree of switches that the packets of one ring pass: the leaves of its members and, as far as
// they are needed, one spine in each of their pods, and one root above these.
class RingTree {
 public:
  RingTree(const Shape& shape, std::uint32_t job, FabricSpec& fabric)
      : shape_(shape), fabric_(fabric) {
    const auto plan = ring_plan(shape, job);
    ring_.id = plan.ring;
    ring_.window = static_cast<std::uint16_t>(plan.window);
    ring_.message_packets = static_cast<std::uint16_t>(plan.message_packets);
    ring_.mtu = static_cast<std::uint16_t>(plan.mtu);
    for (const auto host : separate_hosts(shape, job, fabric.hosts.size())) {
      const auto address = ip_of(fabric.hosts[host].address);
      ring_.members.push_back(address);
      by_leaf_[host / shape.hosts].push_back(address);
      by_pod_[pod_of(host / shape.hosts)].push_back(address);
    }
    auto random = stream_of(shape.seed, Stream::rings, job);
    plane_ = random() % shape.spines;
    root_ = plane_ * shape.roots + random() % shape.roots;
  }

  void set_up() {
    if (by_leaf_.size() == 1) {
      return give(by_leaf_.begin()->first, ring_);
    }
    for (const auto& [leaf, members] : by_leaf_) {
      auto ring = ring_;
      ring.local = members;
      ring.parent = address_of(spine_of(pod_of(leaf)));
      give(leaf, std::move(ring));
    }
    for (const auto& pod : by_pod_) {
      set_up_spine(pod.first);
    }
    if (by_pod_.size() > 1) {
      auto ring = ring_;
      for (const auto& pod : by_pod_) {
        ring.racks.push_back(pod.second);
      }
      give(root(), std::move(ring));
    }
  }

 private:
  void set_up_spine(std::size_t pod) {
    auto ring = ring_;
    for (const auto& [leaf, members] : by_leaf_) {
      if (pod_of(leaf) == pod) {
        ring.racks.push_back(members);
      }
    }
    if (by_pod_.size() > 1) {
      ring.parent = address_of(root());
    }
    give(spine_of(pod), std::move(ring));
  }

  std::size_t pods() const { return shape_.levels > 2 ? shape_.pods : 1; }
  std::size_t pod_of(std::size_t leaf) const {
    return shape_.levels > 1 ? leaf / shape_.leaves : 0;
  }
  std::size_t spine_of(std::size_t pod) const {
    return pods() * shape_.leaves + pod * shape_.spines + plane_;
  }
  std::size_t root() const { return pods() * (shape_.leaves + shape_.spines) + root_; }
  wire::IpAddress address_of(std::size_t index) const {
    return ip_of(fabric_.switches[index].config.address);
  }
  wire::IpAddress ip_of(wire::Ipv4Address address) const {
    return shape_.ipv6 != 0 ? hosts_prefix.embed(address) : wire::IpAddress(address);
  }

  void give(std::size_t index, netreduce::RingConfig ring) {
    auto& config = fabric_.switches[index].config.protocols.get<netreduce::NetReduceConfig>();
    config.rings.push_back(std::move(ring));
    if (const auto fault = netreduce::find_fault(config, config.rings.size() - 1)) {
      throw std::logic_error(fault->message);
    }
  }

  const Shape& shape_;
  FabricSpec& fabric_;
  netreduce::RingConfig ring_;
  std::map<std::size_t, Addresses> by_leaf_;
  std::map<std::size_t, Addresses> by_pod_;
  std::size_t plane_ = 0;
  std::size_t root_ = 0;
};

}  // namespace

host::NetReducePlan ring_plan(const Shape& shape, std::uint32_t job) {
  host::NetReducePlan plan;
  plan.ring = job_id(job);
  plan.window = static_cast<std::uint32_t>(shape.ring_window);
  plan.message_packets = static_cast<std::uint32_t>(shape.message_packets);
  plan.mtu = static_cast<std::uint32_t>(shape.mtu);
  return plan;
}

// Queue pairs have other numbers in every run, or the same ones, as on a machine that was started
// anew. In the second case sequence numbers are far from the last ones, and no old copy arrives,
// which not even the queue pairs could tell from a new packet.
std::vector<host::LinkEnd> ring_ends(const Shape& shape, std::uint32_t job, std::uint64_t run,
                                     std::size_t world) {
  auto random = stream_of(shape.seed, Stream::rings, job | 1u << 16);
  const bool same_pairs = shape.stray == 0 && random() % 2 == 0;
  auto of_run = stream_of(shape.seed, Stream::rings, job | (2u + static_cast<unsigned>(run)) << 16);
  auto& of_pairs = same_pairs ? random : of_run;
  const bool near_end = shape.first_sequence != 0 && (run == 0 || !same_pairs);
  std::vector<host::LinkEnd> ends;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    const auto pair = [&](std::uint32_t side) {
      const auto drawn = static_cast<std::uint32_t>(1 + of_pairs() % 0xffff);
      return drawn << 8 | job << 5 | rank << 1 | side;  // no two on a host are the same
    };
    host::LinkEnd end;
    end.send_qp = pair(0);
    end.receive_qp = pair(1);
    end.first_psn = static_cast<std::uint32_t>(near_end ? wire::psn_mask - of_run() % 64
                                                        : of_run() & wire::psn_mask);
    end.key = static_cast<std::uint32_t>(of_run());
    end.memory = of_run() >> 16;
    ends.push_back(end);
  }
  return ends;
}

host::roce::Tuning ring_tuning(const Shape& shape) {
  host::roce::Tuning tuning;
  tuning.retries_max +=
      static_cast<unsigned>(std::chrono::milliseconds(shape.deadline_ms) / tuning.rto_spread_min());
  return tuning;
}

void set_up_rings(const Shape& shape, FabricSpec& fabric) {
  if (shape.netreduce == 0) {
    return;
  }
  for (auto& section : fabric.switches) {
    section.config.protocols.emplace<netreduce::NetReduceConfig>();
  }
  for (std::uint32_t job = 0; job < shape.jobs; ++job) {
    if (is_netreduce(shape, job)) {
      RingTree(shape, job, fabric).set_up();
    }
  }
}

}  // namespace tributary::test
