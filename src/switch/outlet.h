// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "forwarding/occupancy.h"
#include "forwarding/reduction_classes.h"
#include "packet/fate.h"
#include "packet/pool.h"
#include "switch/interfaces.h"
#include "switch/switch.h"

namespace tributary::switching {

// Each packet is settled in one of both accounts of the ledger.
enum class Account : std::uint8_t { received, originated };

// Packets leave the logic of a switch through its Outlet, one way or another, and it keeps the
// ledger. During a burst an Output is bound; between bursts nothing is sent.
class Outlet {
 public:
  Outlet(const Interfaces& interfaces, PacketPool& pool, CoreShare share,
         std::span<const forwarding::QueueGauge> gauges)
      : interfaces_(interfaces),
        pool_(pool),
        queues_(gauges, interfaces.count()),
        dropped_from_(interfaces.count()),
        publishes_(share.cores > 1) {}

  void bind(Output* out) {
    out_ = out;
    published_ = nullptr;
    out->departures.reserve(interfaces_.count());
    // An earlier call of the same round may have sent packets that are in no queue yet.
    if (out->departures.empty()) {
      queues_.begin_burst();
    }
  }
  Output& out() { return *out_; }
  const forwarding::Occupancy& queues() const { return queues_; }
  const forwarding::ReductionClasses& reduction_classes() const { return reduction_classes_; }
  // A packet of a reduction, which a policy for reductions may choose a next hop for, is sent on.
  void note_reduction(const Packet& packet, Time now) {
    if (learns_classes_) {
      reduction_classes_.note(queues_.class_of(packet), now);
    }
  }
  // Takes the traffic classes of the switch, and whether its engines let it learn those of
  // reductions.
  void reconfigure(const SwitchConfig& config);
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  // Counts by port the received packets that came in by it and were dropped. Engines count theirs
  // here, too.
  std::span<std::uint64_t> dropped_from() { return dropped_from_; }
  std::span<const std::uint64_t> dropped_from() const { return dropped_from_; }

  // Makes a packet here. Returns null, and counts it, if there is no buffer.
  PacketPtr originate();
  // Makes a copy of a packet, which is originated here.
  PacketPtr originate_copy(const Packet& original);
  // A packet that was absorbed earlier, or is turned into an answer, enters the second account.
  void count_originated() { ++ledger_.originated; }

  void send(PacketPtr&& packet, PortIndex port, Account account) {
    if (port >= interfaces_.count() || !interfaces_.port(port).up) {
      drop(std::move(packet), DropReason::port_down, account);
      return;
    }
    ++(account == Account::received ? ledger_.forwarded : ledger_.sent);
    packet->egress = port;
    if (queues_.classes() > 1) [[unlikely]] {
      add_by_class(*packet, port);
    } else {
      queues_.add(port, packet->frame_bytes());
    }
    out_->departures.push(port, std::move(packet));
  }
  void drop(PacketPtr packet, DropReason reason, Account account);
  void absorb(PacketPtr packet);
  // A MAC control frame ends at the port that it came in by.
  void absorb_control(PacketPtr packet) {
    ++ledger_.absorbed;
    out_->controls.push(std::move(packet));
  }
  // The switch keeps the packet, and calls count_originated() when it goes on.
  void keep(Account account);

  // Other cores update their tables from this frame, too.
  void publish(const Packet& frame);
  // Tells other cores what was in no frame: a table update with these bytes and no ingress port.
  void publish_liveness(wire::Bytes word);

 private:
  // It is a call, so that what most packets take stays small.
  void add_by_class(const Packet& packet, PortIndex port);

  const Interfaces& interfaces_;
  PacketPool& pool_;
  Output* out_ = nullptr;
  forwarding::Occupancy queues_;
  forwarding::ReductionClasses reduction_classes_;
  bool learns_classes_ = false;  // from packets that have a path
  Ledger ledger_;
  std::vector<std::uint64_t> dropped_from_;
  bool publishes_;
  // This frame of the burst was published last: a bridge and a router may both learn of it.
  const Packet* published_ = nullptr;
};

}  // namespace tributary::switching
