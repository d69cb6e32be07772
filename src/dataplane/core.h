// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "control/backend.h"
#include "dataplane/core_setup.h"
#include "dataplane/devices.h"
#include "dataplane/handover.h"
#include "dataplane/home_ports.h"
#include "dataplane/idle.h"
#include "dataplane/mailbox.h"
#include "dataplane/mbuf_pool.h"
#include "switch/owners.h"
#include "switch/switch.h"

namespace tributary::dataplane {

// A Core is one packet core: its ports, its share of every logical switch, and the loop that drives
// them. Everything here belongs to the core's thread; the control thread comes in by the mailbox
// only.
class Core {
 public:
  // This is the core's share of one logical switch.
  struct Share {
    std::unique_ptr<switching::Switch> logical;
    switching::Owners owners;
    PacketList inbox;         // to be received in this round
    PacketList partial_sums;  // to be merged then
    Time deadline = never;
    Ledger handover;  // of packets that were lost on the way to their owning core
    std::vector<std::uint64_t> refused_from;  // the received ones of these, by ingress port
  };

  Core(const CoreSetup& setup, const control::DaemonConfig& config, const Devices& devices);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Runs until stop(), on the core's own thread.
  void run();
  void stop();
  Mailbox& mailbox() { return mailbox_; }

  // Actions in the mailbox use these.
  const HomePorts& ports() const { return ports_; }
  std::vector<Share>& shares() { return shares_; }
  control::CoreStatus status() const;
  void stop_receiving();
  bool queues_empty() const;
  void pause(std::uint32_t number, bool paused);
  void set_port_up(std::uint32_t number, bool up);
  void reconfigure(const control::DaemonConfig& config);

 private:
  bool round(Time now);
  bool receive_from_devices(Time now);
  bool receive_from_cores(Time now);
  bool run_switches(Time now);
  void take_in(Share& share, Time now);
  bool run_ports(Time now);

  void tell_ports(std::uint32_t switch_index, Time now);
  void arrive(HomePort& home, PacketPtr packet, Time now);
  void deliver(std::uint32_t switch_index);
  void settle(Share& share, Time now);
  void send_table_updates(std::uint32_t switch_index);
  void route(std::uint32_t number, PacketList run);
  void depart(Time now);
  void cross_link(const HomePort& home, Time now);
  void hand_over(PacketPtr packet, unsigned to, std::uint32_t tag);
  void hand_over(PacketRuns& by_core, std::uint32_t tag);
  void account_refused();
  Time earliest_deadline() const;
  Duration longest_rest() const;
  void rest(Duration sleep);
  void wait_for_work(Duration longest);

  CoreSetup setup_;
  MbufPool pool_;
  Doorbell& bell_;
  Handover handover_;
  IdleGovernor idle_;
  Mailbox mailbox_;
  HomePorts ports_;
  std::vector<Share> shares_;  // by switch
  switching::Output output_;
  PacketRuns departing_;        // by port number: for the queues of this core
  PacketList ready_;            // arrived frames, for deliver()
  PacketList crossing_;         // frames that have left one end, for cross_link()
  PacketList refused_;          // by a full hand-over ring
  std::vector<pollfd> inputs_;  // for wait_for_work()
  bool woken_in_vain_ = false;  // by one of these, of which no work has come since
  bool receiving_ = true;
  std::atomic<bool> stop_{false};
  control::CoreStatus status_;
};

}  // namespace tributary::dataplane
