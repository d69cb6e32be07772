// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/gradient.h"
#include "tree.h"

namespace tributary::netreduce {

// The impairments of each link, per 1000 packets.
struct Weather {
  unsigned lost = 0;
  unsigned doubled = 0;
  unsigned damaged = 0;
  unsigned delay_max = 1;  // steps; more than 1 reorders
};

struct Scene {
  std::uint16_t world = 3;
  std::uint32_t messages = 20;
  Weather weather;
  bool is_send = false;
  std::uint32_t seed = 1;
  std::uint32_t lost_first = 0;      // message whose first packet is lost once, of rank 0; 0: none
  unsigned late_step = 0;            // when the last rank begins
  unsigned restart_step = 0;         // when a switch loses its memory; 0: never
  std::size_t restarted = 0;         // which one
  bool restarts_all = false;         // and all others with it
  std::optional<SwitchTree> tree{};  // no value: one switch
  bool is_v6 = false;
};

// Endpoints of Reliable Connections by the standard: go-back-N from any packet, acknowledgements,
// one NAK per gap, timers, and NetReduce's window of messages on top. They know nothing of the
// switches, which are an engine each; all links have the impairments of the weather.
class Network {
 public:
  explicit Network(const Scene& scene)
      : scene_(scene), tree_(scene.tree.value_or(single(scene.world))), random_(scene.seed) {
    switches_.resize(tree_.size());
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      restart(i);
    }
    for (std::uint16_t rank = 0; rank < scene.world; ++rank) {
      peers_.push_back({});
      peers_.back().first_psn = static_cast<std::uint32_t>(random_()) | 0xffff00;
    }
  }

  // Returns false if a rank still lacks something after so many steps.
  bool run(unsigned steps) {
    for (step_ = 1; step_ <= steps && !is_done(); ++step_) {
      if (step_ == scene_.restart_step) {
        lose_memory();
      }
      for (std::uint16_t rank = 0; rank < scene_.world; ++rank) {
        if (rank + 1u < scene_.world || step_ >= scene_.late_step) {
          send(rank);
        }
      }
      arrive();
    }
    return is_done();
  }

  // Counts delivered packets: wrong sums with the right fingerprint, and packets without it.
  unsigned wrong() const { return wrong_; }
  unsigned told() const { return told_; }
  // Returns the figure of all switches together.
  std::uint64_t figure(std::string_view name) const {
    std::uint64_t sum = 0;
    for (const auto& device : switches_) {
      sum += device.harness->figure(name);
    }
    return sum;
  }
  std::uint64_t figure_at(std::size_t at, std::string_view name) const {
    return switches_[at].harness->figure(name);
  }
  std::uint64_t retransmissions() const { return retransmissions_; }
  // Counts timers of ranks that ran out.
  unsigned timeouts() const { return timeouts_; }

 private:
  struct Peer {
    std::uint32_t first_psn = 0;
    // State of sending to the next rank, counted from the first packet.
    std::uint32_t posted = 0;  // messages
    std::uint64_t next = 0;
    std::uint64_t acknowledged = 0;
    unsigned last_progress = 0;
    // State of receiving from the rank before.
    std::uint64_t expected = 0;
    std::uint32_t received = 0;  // messages
    bool has_complained = false;
  };
  struct Event {
    PacketPtr packet;                 // null: an acknowledgement
    std::optional<std::size_t> at{};  // the switch that it comes to; no value: a rank
    std::uint16_t to = 0;             // rank
    bool is_nak = false;
    std::uint64_t number = 0;
  };

  static constexpr unsigned burst = 3;
  static constexpr unsigned patience = 60;
  static constexpr std::uint32_t run_number = 77;

  struct Device {
    std::unique_ptr<NetReduceEngine> engine;
    std::unique_ptr<test::EngineHarness> harness;
  };

  void restart(std::size_t at) {
    auto whole = ring_of(scene_.world);
    for (auto& member : whole.members) {
      member = scene_.is_v6 ? test::ipv6_of(member.v4()) : member;
    }
    auto ring = tree_.ring(at, whole);
    if (ring.parent && scene_.is_v6) {
      ring.parent = test::ipv6_of(ring.parent->v4());
    }
    const NetReduceConfig config{{ring}};
    const auto fault = find_fault(config, 0);
    EXPECT_FALSE(fault) << fault->message;
    auto& device = switches_[at];
    device.engine = std::make_unique<NetReduceEngine>(config);
    device.harness = std::make_unique<test::EngineHarness>(*device.engine);
  }

  void lose_memory() {
    for (std::size_t i = 0; i < switches_.size(); ++i) {
      if (scene_.restarts_all || i == scene_.restarted) {
        restart(i);
      }
    }
  }

  bool is_done() const {
    for (const auto& peer : peers_) {
      if (peer.received < scene_.messages || peer.acknowledged < first_packet(scene_.messages)) {
        return false;
      }
    }
    return events_.empty();
  }

  // Lengths differ from message to message: one packet to four.
  test::GradientSpec spec_of(std::uint16_t rank, std::uint32_t message) const {
    test::GradientSpec spec;
    spec.rank = rank;
    spec.world = scene_.world;
    spec.message = message;
    spec.run = run_number;
    spec.length = message == 0 ? 48 : 64 + (message * 7 + scene_.seed) % 4 * mtu - message % 3 * 8;
    return spec;
  }
  static std::uint32_t packets_of(const test::GradientSpec& spec) {
    return wire::ina_packets(spec.length, mtu);
  }
  std::uint64_t first_packet(std::uint32_t message) const {
    std::uint64_t packets = 0;
    for (std::uint32_t m = 0; m < message; ++m) {
      packets += packets_of(spec_of(0, m));
    }
    return packets;
  }
  // The message that a packet is of, and which packet of it.
  std::pair<std::uint32_t, std::uint32_t> place_of(std::uint64_t number) const {
    std::uint32_t message = 0;
    for (; number >= packets_of(spec_of(0, message)); ++message) {
      number -= packets_of(spec_of(0, message));
    }
    return {message, static_cast<std::uint32_t>(number)};
  }

  void send(std::uint16_t rank) {
    auto& peer = peers_[rank];
    // Nothing is sent behind message 0 before its sum has come: then the switch knows all ranks.
    const auto window = peer.received == 0 ? 1u : 2u;
    while (peer.posted < scene_.messages && peer.posted < peer.received + window) {
      ++peer.posted;
    }
    const auto end = first_packet(peer.posted);
    if (peer.acknowledged == peer.next) {
      peer.last_progress = step_;
    } else if (step_ - peer.last_progress > patience) {
      ++timeouts_;
      go_back(peer, peer.acknowledged);
    }
    for (unsigned i = 0; i < burst && peer.next < end; ++i) {
      const auto to = static_cast<std::uint16_t>((rank + 1u) % scene_.world);
      if (rank == 0 && scene_.lost_first != 0 && peer.next == first_packet(scene_.lost_first)) {
        scene_.lost_first = 0;
        ++peer.next;
        continue;
      }
      travel({make(rank, peer.next++), tree_.leaf_of(rank), to, false, 0});
    }
  }

  void go_back(Peer& peer, std::uint64_t to) {
    retransmissions_ += peer.next - to;
    peer.next = to;
    peer.last_progress = step_;
  }

  PacketPtr make(std::uint16_t rank, std::uint64_t number) {
    const auto [message, packet] = place_of(number);
    const auto spec = spec_of(rank, message);
    const auto bytes = message_of(spec);
    test::RoceSpec roce;
    roce.source = address_of(rank);
    roce.destination = address_of((rank + 1u) % scene_.world);
    roce.destination_qp = 0x11u + rank;
    roce.psn =
        wire::psn_add(peers_[rank].first_psn & wire::psn_mask, static_cast<std::uint32_t>(number));
    roce.opcode =
        test::roce_opcode(scene_.is_send, packet == 0, packet + 1 == packets_of(spec), true);
    roce.length = spec.length;
    roce.ingress = rank;
    roce.is_v6 = scene_.is_v6;
    return test::make_roce(pool_, roce,
                           wire::Bytes(bytes).subspan(
                               packet * mtu, wire::ina_payload_bytes(spec.length, mtu, packet)));
  }

  bool happens(unsigned of_1000) { return random_() % 1000 < of_1000; }

  void travel(Event event) {
    const auto& weather = scene_.weather;
    if (happens(weather.lost)) {
      return;
    }
    if (event.packet != nullptr && happens(weather.doubled)) {
      events_.emplace(step_ + 1 + random_() % weather.delay_max,
                      Event{pool_.clone(*event.packet), event.at, event.to, false, 0});
    }
    if (event.packet != nullptr && happens(weather.damaged)) {
      // The damage is behind the UDP header, as switches check the checksum of IP before the
      // engine.
      const auto frame = engine::parse_frame(*event.packet);
      const auto headers = event.packet->length - datagram_of(frame).payload.size();
      const auto at = headers + random_() % (event.packet->length - headers);
      event.packet->data()[at] ^= static_cast<std::byte>(1 + random_() % 255);
    }
    events_.emplace(step_ + 1 + random_() % weather.delay_max, std::move(event));
  }

  void arrive() {
    while (!events_.empty() && events_.begin()->first <= step_) {
      auto event = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      if (event.packet == nullptr) {
        acknowledge(peers_[event.to], event);
      } else if (!event.at) {
        receive(event.to, *event.packet);
      } else {
        pass_switch(std::move(event));
      }
    }
  }

  void pass_switch(Event event) {
    auto& packet = event.packet;
    auto& harness = *switches_[*event.at].harness;
    const auto deliver = [this, &event](PacketPtr sent) {
      const auto datagram = datagram_of(engine::parse_frame(*sent));
      const auto* address = datagram.ip + (scene_.is_v6 ? 24 + 12 : 16);
      const auto destination = reinterpret_cast<const wire::Ipv4Address*>(address)->value();
      const auto rank = static_cast<std::uint16_t>(destination - address_of(0).value());
      travel({std::move(sent), tree_.next(*event.at, rank), rank, false, 0});
    };
    if (!engine_kind.protocol.claims(engine::parse_frame(*packet))) {
      return deliver(std::move(packet));
    }
    for (auto& sent :
         harness.process(std::move(packet), Time{} + std::chrono::microseconds(step_))) {
      deliver(std::move(sent.packet));
    }
    EXPECT_TRUE(harness.ledger.balanced());
  }

  void receive(std::uint16_t rank, Packet& packet) {
    const auto view = test::roce_of(packet);
    auto& peer = peers_[rank];
    const auto before = static_cast<std::uint16_t>((rank + scene_.world - 1) % scene_.world);
    if (view.bth == nullptr || !test::has_right_icrc(packet)) {
      return;
    }
    const auto expected = wire::psn_add(peers_[before].first_psn & wire::psn_mask,
                                        static_cast<std::uint32_t>(peer.expected));
    const auto ahead = wire::psn_distance(expected, view.bth->psn.value());
    if (ahead == 0) {
      accept(peer, before, view);
    } else if (ahead > wire::psn_mask / 2) {
      acknowledge_to(before, false, peer.expected);
    } else if (!peer.has_complained) {
      peer.has_complained = true;
      acknowledge_to(before, true, peer.expected);
    }
  }

  void accept(Peer& peer, std::uint16_t before, const wire::RoceView& view) {
    const auto [message, packet] = place_of(peer.expected);
    const auto spec = spec_of(before, message);
    const auto whole = sum_of(spec);
    const auto wanted =
        wire::Bytes(whole).subspan(packet * mtu, wire::ina_payload_bytes(spec.length, mtu, packet));
    ASSERT_EQ(view.payload.size(), wanted.size());
    if (wire::load_fingerprint(view.payload) != wire::load_fingerprint(wanted)) {
      ++told_;
    } else if (!std::equal(wanted.begin(), wanted.end(), view.payload.begin())) {
      ++wrong_;
    }
    ++peer.expected;
    peer.has_complained = false;
    if (packet + 1 == packets_of(spec)) {
      ++peer.received;
    }
    acknowledge_to(before, false, peer.expected);
  }

  void acknowledge_to(std::uint16_t rank, bool is_nak, std::uint64_t number) {
    travel({nullptr, std::nullopt, rank, is_nak, number});
  }
  void acknowledge(Peer& peer, const Event& event) {
    if (event.number > peer.acknowledged) {
      peer.acknowledged = event.number;
      peer.last_progress = step_;
      peer.next = std::max(peer.next, peer.acknowledged);
    }
    if (event.is_nak && event.number == peer.acknowledged && peer.next > event.number) {
      go_back(peer, event.number);
    }
  }

  Scene scene_;
  SwitchTree tree_;
  std::mt19937 random_;
  HeapPacketPool pool_{8192, 512};
  std::vector<Device> switches_;
  std::vector<Peer> peers_;
  std::multimap<unsigned, Event> events_;
  unsigned step_ = 0;
  unsigned wrong_ = 0;
  unsigned told_ = 0;
  std::uint64_t retransmissions_ = 0;
  unsigned timeouts_ = 0;
};

}  // namespace tributary::netreduce
