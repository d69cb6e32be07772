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
#include "wire/ipv4.h"

namespace tributary::engine {

// What chooses among equal next hops of a packet that the switch routes. The same for all senders
// of a block, so that all switches of a level pick the same root for it.
struct Path {
  std::uint32_t hash = 0;   // of the aggregation key and the leader
  std::uint32_t block = 0;  // sequence number of the block in its job
  // Where a packet goes that has no IP header: directly over Ethernet, too, it is routed.
  wire::Ipv4Address destination;
};

// What a result says of the path of its block, as the packets of the block were routed.
struct Answer {
  Path path;
  bool congested = false;  // a queue on the way was
};

// A packet that an engine wants routed (or bridged) by its destination. The switch writes the
// link-layer addresses where it routes.
struct Departure {
  PacketPtr packet;
  Frame frame;  // of the packet as it is to leave; without an Ethernet header: to be parsed
  std::optional<Path> path;  // no value: as ordinary traffic
  // The packet was received in this burst: the switch counts it as forwarded or dropped.
  // Otherwise it was originated: the switch counts it as sent or lost.
  bool received = false;
  // Kept before: it goes on as if it came now, with its own addresses and one hop older.
  bool resumed = false;
  // Where it is routed, it takes the way to this address, and not to its destination.
  std::optional<wire::Ipv4Address> towards{};
};

// What an engine decided in one burst. Every packet handed to it ends in exactly one of absorb,
// drop and forward; packets that it makes, or had kept, are sent by originate. The switch takes the
// departures after the burst, routes them and settles their account.
class Actions {
 public:
  // `dropped_from`, by port, counts what came in by it and was dropped; it outlives this.
  explicit Actions(Ledger& ledger, unsigned cores = 1, std::span<std::uint64_t> dropped_from = {})
      : ledger_(ledger), dropped_from_(dropped_from) {
    passed_on_.reserve(cores);
    partial_sums_.reserve(cores);
  }

  // Consumed. An engine that keeps the packet moves it away first and calls this with null.
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
  // The same, by the way of its connection ...
  void forward(PacketPtr packet, const Frame& frame) {
    forward_towards(std::move(packet), frame, std::nullopt);
  }
  // ... or by that of another switch, which knows what to do with it.
  void forward_towards(PacketPtr packet, const Frame& frame,
                       const std::optional<wire::Ipv4Address>& other) {
    departures_.push_back({std::move(packet), frame, std::nullopt, true, false, other});
  }

  // A packet made here, or kept before, is routed towards its destination ...
  void originate(PacketPtr packet, const Frame& frame, const Path& path) {
    ++ledger_.originated;
    departures_.push_back({std::move(packet), frame, path, false, false});
  }
  // ... or, if it is still its sender's, goes on by the way of its connection or of another switch
  // ...
  void resume_towards(PacketPtr packet, const std::optional<wire::Ipv4Address>& other) {
    ++ledger_.originated;
    departures_.push_back({std::move(packet), {}, std::nullopt, false, true, other});
  }
  // ... or is a complete frame, but for its source address, that leaves by one port ...
  void originate_on(PortIndex port, PacketPtr&& packet) {
    ++ledger_.originated;
    packet->egress = port;
    frames_.push(std::move(packet));
  }
  // ... or are several of that kind, each for the port in Packet::egress ...
  void originate_all(PacketList&& packets) {
    ledger_.originated += packets.size();
    frames_.append(std::move(packets));
  }
  // ... or could not be made or sent.
  void lose(DropReason reason) {
    ++ledger_.originated;
    ledger_.lose(reason);
  }

  // The block came back: what chooses up-ports may learn from it.
  void answer(const Answer& answer) { answers_.push_back(answer); }
  // To the core that owns its block, which takes it as if it had come there. What was noted of the
  // frame is still true.
  void pass_on(PacketPtr packet, unsigned core) {
    --ledger_.received;
    passed_on_.push(core, std::move(packet));
  }
  // A sum of packets that were absorbed here, for Engine::merge() on the core that owns their
  // block. `row` is that of the engine's protocol.
  void hand_over(PacketPtr partial_sum, unsigned core, std::size_t row) {
    note_claim(*partial_sum, static_cast<std::uint8_t>(row + 1));
    partial_sums_.push(core, std::move(partial_sum));
  }

  // For the switch; cleared by it after use, so that the storage is kept.
  std::vector<Departure>& departures() { return departures_; }
  std::vector<Answer>& answers() { return answers_; }
  // Complete frames, by Packet::egress; taken by the switch.
  PacketList& frames() { return frames_; }
  // By core.
  PacketRuns& passed_on() { return passed_on_; }
  PacketRuns& partial_sums() { return partial_sums_; }

 private:
  Ledger& ledger_;
  std::span<std::uint64_t> dropped_from_;
  std::vector<Departure> departures_;
  std::vector<Answer> answers_;
  PacketList frames_;
  PacketRuns passed_on_;
  PacketRuns partial_sums_;
};

}  // namespace tributary::engine
