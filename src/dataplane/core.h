// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "control/backend.h"
#include "dataplane/handover.h"
#include "dataplane/idle.h"
#include "dataplane/mailbox.h"
#include "dataplane/mbuf_pool.h"
#include "dataplane/port_device.h"
#include "dataplane/topology.h"
#include "switch/port.h"
#include "switch/switch.h"

namespace tributary::dataplane {

// What all cores see of each other: whether somebody is at work and may hand something over.
struct alignas(64) CorePulse {
  std::atomic<bool> busy{false};
};

// How full every egress queue is, by switch and port: written by the cores that own the queues.
using Gauges = std::vector<std::vector<forwarding::QueueGauge>>;
// What is charged to every port, and what its neighbour asked for, by switch and port.
using Buffers = std::vector<std::vector<forwarding::PortBuffer>>;

// One packet core: its ports, its share of every logical switch, and the loop that drives them.
// Everything here belongs to the core's thread; the control thread comes in by the mailbox only.
class Core {
 public:
  struct Setup {
    unsigned core = 0;
    unsigned cores = 1;
    unsigned cpu = 0;
    const Topology* topology = nullptr;
    const HandoverRings* rings = nullptr;
    rte_mempool* mempool = nullptr;
    std::vector<CorePulse>* pulses = nullptr;
    Gauges* gauges = nullptr;
    Buffers* buffers = nullptr;
  };
  // A queue of a port's device that is polled here, with its share of the port's work; or an end
  // of an internal link.
  struct HomePort {
    switching::Port port;
    DeviceQueue* queue = nullptr;  // null for an internal link
    std::uint32_t number = 0;
    bool first = true;  // of the queues of its port
    const PortPlace* place = nullptr;
    Time deadline = never;  // of the port's queue and impairments
  };
  // This core's share of one logical switch.
  struct Share {
    std::unique_ptr<switching::Switch> logical;
    switching::SwitchConfig config;
    PacketList inbox;  // to be received in this round
    Time deadline = never;
    Ledger handover;  // packets that were lost on the way to their owning core
  };

  // `devices` is indexed by port number.
  Core(const Setup& setup, const control::DaemonConfig& config,
       const std::vector<std::unique_ptr<PortDevice>>& devices);
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // Runs until stop(). On the core's own thread.
  void run();
  void stop() { stop_.store(true, std::memory_order_relaxed); }
  Mailbox& mailbox() { return mailbox_; }

  // For actions in the mailbox.
  std::vector<HomePort>& ports() { return ports_; }
  std::vector<Share>& shares() { return shares_; }
  control::CoreStatus status() const;
  void stop_receiving();
  bool queues_empty() const;
  // After something outside the loop changed a port or a switch.
  void refresh_deadlines();
  // A port whose queues are paused neither receives nor sends.
  void pause(std::uint32_t number, bool paused);
  void set_port_up(std::uint32_t number, bool up);
  void reconfigure(const control::DaemonConfig& config);

 private:
  bool round(Time now);
  bool receive_from_devices(Time now);
  bool receive_from_cores(Time now);
  bool run_switches(Time now);
  bool run_ports(Time now);

  void add_port(std::uint32_t number, const control::DaemonConfig& config, PortDevice* device);
  void choose_senders(const control::DaemonConfig& config);
  void control_flow(const control::DaemonConfig& config);
  void tell_ports(std::uint32_t switch_index, Time now);
  void arrive(HomePort& home, PacketPtr packet, Time now);
  void deliver(HomePort& home);
  void settle(Share& share, Time now);
  void teach_others(std::uint32_t switch_index);
  void depart(std::uint32_t number, PacketPtr packet, Time now);
  void leave(HomePort& home, PacketPtr packet, Time now);
  bool transmit(HomePort& home, Time now);
  void cross_link(HomePort& home, Time now);
  void hand_over(PacketPtr packet, unsigned to, std::uint64_t tag);
  void account_refused();
  Time earliest_deadline() const;
  void rest(Duration sleep);

  Setup setup_;
  MbufPool pool_;
  Handover handover_;
  IdleGovernor idle_;
  Mailbox mailbox_;
  std::vector<HomePort> ports_;
  std::vector<HomePort*> home_;    // by port number: the first queue here, or null
  std::vector<unsigned> senders_;  // by port number: by whose queue leaves what is sent here
  std::vector<Share> shares_;      // by switch
  switching::Output output_;
  PacketList ready_;    // scratch of arrive()
  PacketList taken_;    // scratch of run_ports()
  PacketList refused_;  // by a full hand-over ring
  bool receiving_ = true;
  std::atomic<bool> stop_{false};
  control::CoreStatus status_;
};

}  // namespace tributary::dataplane
