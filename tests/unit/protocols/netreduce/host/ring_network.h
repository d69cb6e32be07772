// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/engine.h"
#include "protocols/netreduce/engine/protocol.h"
#include "protocols/netreduce/host/collectives.h"
#include "support/engine_harness.h"
#include "support/frames.h"
#include "unit/host/vectors.h"
#include "wire/roce.h"

namespace tributary::host::test {

// The impairments of each line, per 1000 packets, and the longest delay.
struct Weather {
  unsigned lost = 0;
  unsigned doubled = 0;
  unsigned damaged = 0;
  unsigned marked = 0;    // by a congested queue, on the way to a host
  Duration delay_max{1};  // all the same: none overtakes another
};

struct Scene {
  std::uint32_t ranks = 3;
  NetReducePlan plan{.ring = 5, .window = 2, .message_packets = 4, .mtu = 256};
  Weather weather = {};
  unsigned seed = 1;
  bool switch_adds = true;
  roce::Tuning tuning = {};
  NetReduceCollectives::Adder adder = NetReduceCollectives::Adder::the_switch;
};

// Ranks with their machines, each on a line to one switch with the engine, in virtual time.
class RingNetwork {
 public:
  explicit RingNetwork(const Scene& scene) : scene_(scene), random_(scene.seed) {
    restart_switch();
    std::vector<LinkEnd> ends;
    for (std::uint32_t rank = 0; rank < scene.ranks; ++rank) {
      // Packet numbers begin near their end, so that they wrap soon.
      ends.push_back({0x100 + rank, 0x200 + rank, 0xfffff0 + rank, rank * 7, 0x7f00000 * rank});
    }
    for (std::uint32_t rank = 0; rank < scene.ranks; ++rank) {
      const auto next = (rank + 1) % scene.ranks;
      const auto before = (rank + scene.ranks - 1) % scene.ranks;
      machines_.push_back(std::make_unique<NetReduceCollectives>(
          job_of(rank), scene.plan,
          LinkPlan{ends[rank], {address_of(next), ends[next]}, {address_of(before), ends[before]}},
          scene.tuning, scene.adder));
    }
  }
  NetReduceCollectives& operator[](std::uint32_t rank) { return *machines_[rank]; }
  std::uint32_t size() const { return scene_.ranks; }
  tributary::test::EngineHarness& harness() { return *harness_; }
  Weather& weather() { return scene_.weather; }
  // Sees every frame before it travels; may change it, or have it lost.
  std::function<bool(Packet&, bool to_switch)> on_wire = [](Packet&, bool) { return true; };

  static wire::Ipv4Address address_of(std::uint32_t rank) {
    return wire::Ipv4Address(10, 0, 0, static_cast<std::uint8_t>(1 + rank));
  }

  void restart_switch() {
    netreduce::NetReduceConfig config;
    if (scene_.switch_adds) {
      netreduce::RingConfig ring{.id = scene_.plan.ring};
      for (std::uint32_t rank = 0; rank < scene_.ranks; ++rank) {
        ring.members.push_back(address_of(rank));
      }
      ring.window = static_cast<std::uint16_t>(scene_.plan.window);
      ring.message_packets = static_cast<std::uint16_t>(scene_.plan.message_packets);
      ring.mtu = static_cast<std::uint16_t>(scene_.plan.mtu);
      config.rings.push_back(ring);
    }
    engine_ = std::make_unique<netreduce::NetReduceEngine>(config);
    harness_ = std::make_unique<tributary::test::EngineHarness>(*engine_);
  }

  void begin(std::uint32_t rank, const Call& call, Duration patience = std::chrono::seconds(60)) {
    begin(rank, call, Deadline(now + patience));
  }
  void begin(std::uint32_t rank, const Call& call, const Deadline& deadline) {
    machines_[rank]->begin(call, now, deadline);
  }
  void barrier() {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      begin(rank, {Collective::barrier, {}, 0});
    }
    run();
  }

  // Runs until no machine runs any more and nothing is on the way, or `limit` has passed.
  void run(Duration limit = std::chrono::seconds(120)) {
    const auto end = now + limit;
    for (;;) {
      for (std::uint32_t rank = 0; rank < size(); ++rank) {
        collect(rank);
      }
      auto next = events_.empty() ? never : events_.begin()->first;
      for (const auto& machine : machines_) {
        next = std::min(next, machine->deadline());
      }
      if (next == never || next > end) {
        return;
      }
      now = std::max(now, next);
      for (auto& machine : machines_) {
        machine->expire(now);
      }
      arrive();
    }
  }

  bool is_running() const {
    return std::any_of(machines_.begin(), machines_.end(),
                       [](const auto& machine) { return machine->running(); });
  }
  bool has_failed(std::uint32_t rank) const { return machines_[rank]->failure().has_value(); }
  // Returns the error of the first rank whose collective failed.
  std::string failure() const {
    for (const auto& machine : machines_) {
      if (machine->failure()) {
        return machine->failure()->message;
      }
    }
    return {};
  }

  Time now{std::chrono::seconds(1)};

 private:
  struct Event {
    PacketPtr packet;
    bool to_switch = false;
  };

  Job job_of(std::uint32_t rank) const {
    Job job;
    job.id = 77;
    job.key = {9, 8, 7};
    job.rank = rank;
    for (std::uint32_t peer = 0; peer < scene_.ranks; ++peer) {
      job.peers.push_back({address_of(peer), wire::roce_udp_port});
    }
    return job;
  }

  void collect(std::uint32_t rank) {
    Outbox outbox(3);  // small, so that machines have to stop and go on
    for (;;) {
      machines_[rank]->poll(outbox, now);
      if (outbox.empty()) {
        return;
      }
      for (; !outbox.empty(); outbox.pop()) {
        travel(frame_of(rank, outbox.front()), true);
      }
    }
  }

  // Makes the frame that Linux sends: see open_roce_socket().
  PacketPtr frame_of(std::uint32_t rank, const Datagram& datagram) {
    const auto bytes = datagram.header_bytes + datagram.payload.size() + datagram.trailer_bytes;
    const auto mac = [](wire::Ipv4Address address) {
      return tributary::test::mac(static_cast<std::uint8_t>(address.value()));
    };
    const auto here = address_of(rank);
    const auto there = datagram.destination.address;
    auto packet = tributary::test::make_udp(pool_, {mac(here), mac(there), here, there},
                                            wire::roce_udp_port, datagram.destination.port, bytes);
    const auto frame = engine::parse_frame(*packet);
    frame.udp->checksum = std::uint16_t{0};
    frame.ipv4->identification = std::uint16_t{0};
    frame.ipv4->fragment = wire::Ipv4Header::dont_fragment;
    frame.ipv4->tos = wire::ecn::ect0;
    auto* at = frame.payload.data();
    for (const auto part : {datagram.header(), datagram.payload, datagram.trailer()}) {
      at = std::copy(part.begin(), part.end(), at);
    }
    return packet;
  }

  bool happens(unsigned of_1000) { return of_1000 != 0 && random_() % 1000 < of_1000; }

  void travel(PacketPtr packet, bool to_switch) {
    const auto& weather = scene_.weather;
    if (!on_wire(*packet, to_switch) || happens(weather.lost)) {
      return;
    }
    if (happens(weather.doubled)) {
      enter({pool_.clone(*packet), to_switch});
    }
    if (happens(weather.damaged)) {
      // Behind the IPv4 header, whose checksum switches and hosts look at first.
      const auto at = 34 + 8 + random_() % (packet->length - 42);
      packet->data()[at] ^= static_cast<std::byte>(1 + random_() % 255);
    }
    if (!to_switch && happens(weather.marked)) {
      engine::parse_frame(*packet).ipv4->tos |= wire::ecn::ce;
    }
    enter({std::move(packet), to_switch});
  }

  void enter(Event event) {
    const auto late = 1 + random_() % static_cast<unsigned>(scene_.weather.delay_max.count());
    events_.emplace(now + Duration(late), std::move(event));
  }

  void arrive() {
    while (!events_.empty() && events_.begin()->first <= now) {
      auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      if (event.to_switch) {
        pass_switch(std::move(event.packet));
      } else {
        receive(*event.packet);
      }
    }
  }

  void pass_switch(PacketPtr packet) {
    if (!netreduce::engine_kind.protocol.claims(engine::parse_frame(*packet))) {
      return travel(std::move(packet), false);
    }
    const tributary::Time at{now.time_since_epoch()};
    for (auto& sent : harness_->process(std::move(packet), at)) {
      travel(std::move(sent.packet), false);
    }
  }

  void receive(Packet& packet) {
    const auto frame = engine::parse_frame(packet);
    const auto rank = frame.ipv4->destination.value() - address_of(0).value();
    if (frame.udp->destination_port.value() != wire::roce_udp_port || rank >= size()) {
      return;  // damaged
    }
    const Arrival arrival{frame.payload,
                          static_cast<std::uint8_t>(frame.ipv4->tos & wire::ecn::mask),
                          {frame.ipv4->source, frame.udp->source_port.value()}};
    machines_[rank]->receive({&arrival, 1}, now);
  }

  Scene scene_;
  std::mt19937 random_;
  HeapPacketPool pool_{16384, 1280};
  std::unique_ptr<netreduce::NetReduceEngine> engine_;
  std::unique_ptr<tributary::test::EngineHarness> harness_;
  std::vector<std::unique_ptr<NetReduceCollectives>> machines_;
  std::multimap<Time, Event> events_;
};

}  // namespace tributary::host::test
