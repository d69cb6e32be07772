// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "engine/frame.h"
#include "packet/fate.h"
#include "packet/list.h"
#include "packet/packet.h"
#include "packet/pool.h"
#include "packet/runs.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"

namespace tributary::engine {

// A Path chooses among equal next hops of a packet that the switch routes. It is the same for all
// senders of a block, so that all switches of a level pick the same root for it.
struct Path {
  std::uint32_t hash = 0;   // of the aggregation key and the leader
  std::uint32_t block = 0;  // sequence number of the block in its job
  // A packet that has no IP header is routed, too, when it comes directly over Ethernet; this is
  // where it goes.
  wire::Ipv4Address destination;
};

// An Answer is what a result tells about the path of its block, on which the block's packets were
// routed.
struct Answer {
  Path path;
  PortIndex port = no_port;  // by which it came
  bool congested = false;    // a queue on the way was congested
  bool over_ipv6 = false;    // the path is one of IPv6, to the address that embeds its destination
};

// A Departure is a packet that an engine wants routed (or bridged) by its destination. The switch
// writes the link-layer addresses where it routes.
struct Departure {
  PacketPtr packet;
  Frame frame;  // of the packet as it is to leave; the switch parses it if there is no `ethernet`
  std::optional<Path> path;  // no value: as ordinary traffic
  // A packet that was received in this burst is counted by the switch as forwarded or dropped. Any
  // other was originated: the switch counts it as sent or lost.
  bool received = false;
  // A resumed packet was kept before: it goes on as if it came now, with its own addresses and one
  // hop older.
  bool resumed = false;
  // Where the packet is routed, it takes the way to this address, and not to its destination. Both
  // are of the same version of IP.
  std::optional<wire::IpAddress> towards{};
  std::uint32_t origins = 0;  // how many of Actions::origins() are its own
};

// Actions are what an engine decided in one burst. Every packet handed to it ends in exactly one of
// absorb, drop and forward; packets that it makes, or had kept, are sent by originate. The switch
// takes the departures after the burst, routes them and settles their account.
class Actions {
 public:
  static constexpr std::size_t origins_max = 64;  // of a departure

  // `dropped_from` counts, by port, the packets that came in by it and were dropped; it outlives
  // this.
  explicit Actions(Ledger& ledger, unsigned cores = 1, std::span<std::uint64_t> dropped_from = {})
      : ledger_(ledger), dropped_from_(dropped_from) {
    passed_on_.reserve(cores);
    partial_sums_.reserve(cores);
  }

  // The packet is consumed. An engine that keeps it moves it away first and calls this with null.
  void absorb(PacketPtr packet) {
    ++ledger_.absorbed;
    packet.reset();
  }
  void drop(PacketPtr packet, DropReason reason) {
    ledger_.drop(reason);
    if (packet->ingress < dropped_from_.size()) {
      ++dropped_from_[packet->ingress];
    }
    packet.reset();
  }
  // A received packet goes on towards its destination.
  void forward(PacketPtr packet, const Frame& frame, const Path& path) {
    departures_.push_back({std::move(packet), frame, path, true, false});
  }
  // A received packet goes on towards its destination on the path of its connection.
  void forward(PacketPtr packet, const Frame& frame) {
    forward_towards(std::move(packet), frame, std::nullopt);
  }
  // A received packet goes on to another switch, which knows what to do with it; without one, to
  // its destination, on the path of its connection.
  void forward_towards(PacketPtr packet, const Frame& frame,
                       const std::optional<wire::IpAddress>& other) {
    departures_.push_back({std::move(packet), frame, std::nullopt, true, false, other});
  }

  // A packet made here, or kept before, is routed towards its destination.
  void originate(PacketPtr packet, const Frame& frame, const Path& path) {
    ++ledger_.originated;
    departures_.push_back({std::move(packet), frame, path, false, false});
  }
  // A part of what was originated last, one of at most origins_max, came from a switch by this port
  // of the bridge, which does not send it back there.
  void keep_from(PortIndex port) {
    origins_.push_back(port);
    ++departures_.back().origins;
  }
  // A packet that was kept and is still its sender's goes on, on the path of its connection or to
  // another switch.
  void resume_towards(PacketPtr packet, const std::optional<wire::IpAddress>& other) {
    ++ledger_.originated;
    departures_.push_back({std::move(packet), {}, std::nullopt, false, true, other});
  }
  // The packet leaves by one port; it is a complete frame, but for its source address.
  void originate_on(PortIndex port, PacketPtr&& packet) {
    ++ledger_.originated;
    packet->egress = port;
    frames_.push(std::move(packet));
  }
  // The packets are complete frames, but for their source addresses; each leaves by the port in
  // Packet::egress.
  void originate_all(PacketList&& packets) {
    ledger_.originated += packets.size();
    frames_.append(std::move(packets));
  }
  // A packet could not be made or sent; it counts as originated and lost.
  void lose(DropReason reason) {
    ++ledger_.originated;
    ledger_.lose(reason);
  }

  // The block came back: what chooses up-ports may learn from its answer.
  void answer(const Answer& answer) { answers_.push_back(answer); }
  // The packet goes to the core that owns its block, which takes it as if it had come there. What
  // was noted of the frame is still true.
  void pass_on(PacketPtr packet, unsigned core) {
    --ledger_.received;
    passed_on_.push(core, std::move(packet));
  }
  // `partial_sum` is a sum of packets that were absorbed here; Engine::merge() takes it on the core
  // that owns their block. `row` is that of the engine's protocol.
  void hand_over(PacketPtr partial_sum, unsigned core, std::size_t row) {
    note_claim(*partial_sum, static_cast<std::uint8_t>(row + 1));
    partial_sums_.push(core, std::move(partial_sum));
  }

  // The switch reads these, and clears them after use, so that the storage is kept.
  std::vector<Departure>& departures() { return departures_; }
  std::vector<Answer>& answers() { return answers_; }
  // These are the ports that the departures are kept from, in the order of the departures.
  std::vector<PortIndex>& origins() { return origins_; }
  // These are complete frames, each for the port in Packet::egress; the switch takes them.
  PacketList& frames() { return frames_; }
  // Both have a run of packets for each core.
  PacketRuns& passed_on() { return passed_on_; }
  PacketRuns& partial_sums() { return partial_sums_; }

 private:
  Ledger& ledger_;
  std::span<std::uint64_t> dropped_from_;
  std::vector<Departure> departures_;
  std::vector<Answer> answers_;
  std::vector<PortIndex> origins_;
  PacketList frames_;
  PacketRuns passed_on_;
  PacketRuns partial_sums_;
};

}  // namespace tributary::engine
