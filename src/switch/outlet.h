// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "forwarding/occupancy.h"
#include "packet/fate.h"
#include "packet/pool.h"
#include "switch/interfaces.h"
#include "switch/switch.h"

namespace tributary::switching {

// In which account of the ledger a packet is settled.
enum class Account : std::uint8_t { received, originated };

// Where packets leave the logic of a switch, one way or another; keeps the ledger. During a burst
// an Output is bound; between bursts nothing is sent.
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
    out->departures.reserve(interfaces_.count());
    // What an earlier call of the same round has sent is in no queue yet.
    if (out->departures.empty()) {
      queues_.begin_burst();
    }
  }
  Output& out() { return *out_; }
  const forwarding::Occupancy& queues() const { return queues_; }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  // By port: received packets that came in by it and were dropped. Engines count theirs here, too.
  std::span<std::uint64_t> dropped_from() { return dropped_from_; }
  std::span<const std::uint64_t> dropped_from() const { return dropped_from_; }

  // A packet that is made here. Null, and counted, if there is no buffer.
  PacketPtr originate();
  // A copy of a packet, originated here.
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
    queues_.add(port, packet->frame_bytes());
    out_->departures.push(port, std::move(packet));
  }
  void drop(PacketPtr packet, DropReason reason, Account account);
  void absorb(PacketPtr packet);
  // A MAC control frame ends at the port that it came in by.
  void absorb_control(PacketPtr packet) {
    ++ledger_.absorbed;
    out_->controls.push(std::move(packet));
  }
  // The switch keeps the packet; count_originated() when it goes on.
  void keep(Account account);

  // Other cores update their tables from this frame, too.
  void publish(const Packet& frame);
  // The same for what was in no frame: a table update with these bytes and no ingress port.
  void publish_liveness(wire::Bytes word);

 private:
  const Interfaces& interfaces_;
  PacketPool& pool_;
  Output* out_ = nullptr;
  forwarding::Occupancy queues_;
  Ledger ledger_;
  std::vector<std::uint64_t> dropped_from_;
  bool publishes_;
};

}  // namespace tributary::switching
