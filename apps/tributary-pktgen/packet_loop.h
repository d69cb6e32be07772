// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/idle.h"
#include "dataplane/mailbox.h"
#include "dataplane/port_device.h"
#include "packet/pool.h"
#include "traffic/session.h"

namespace tributary::pktgen {

struct PortCounters {
  std::uint64_t sent = 0;
  std::uint64_t sent_line_bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t received_line_bytes = 0;
  std::uint64_t unsent = 0;  // the device did not take these for long
  std::uint64_t missed = 0;  // the device lost these before they were received
};

// A PacketLoop moves packets between the devices and a session, on a core of its own.
class PacketLoop {
 public:
  using Devices = std::vector<std::unique_ptr<dataplane::PortDevice>>;

  PacketLoop(traffic::Session& session, const Devices& devices, PacketPool& pool,
             control::IdlePolicy idle);

  // Runs until the session is done. It is called on the loop's own thread.
  void run();
  bool done() const { return done_.load(std::memory_order_acquire); }

  // The mailbox is for the control thread: what it runs may look at the session and the counters.
  dataplane::Mailbox& mailbox() { return mailbox_; }
  traffic::Session& session() { return session_; }
  // Returns what the loop knows, without what devices lose by themselves: see with_losses().
  std::vector<PortCounters> counters() const;

 private:
  bool receive(Time now);
  bool transmit(Time now);
  static PacketList take(PacketList& queue, std::size_t most, PortCounters& counters);
  static void rest(Duration duration);
  void flush();

  traffic::Session& session_;
  const Devices& devices_;
  PacketPool& pool_;
  dataplane::IdleGovernor idle_;
  dataplane::Mailbox mailbox_;
  traffic::Outbox outbox_;
  std::vector<PortCounters> counters_;
  std::atomic<bool> done_{false};
};

// Adds what the devices have lost. It asks the kernel, so that it is for the control thread.
std::vector<PortCounters> with_losses(std::vector<PortCounters> counters,
                                      const PacketLoop::Devices& devices);

}  // namespace tributary::pktgen
