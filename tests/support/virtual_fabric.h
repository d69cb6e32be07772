// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "control/config.h"
#include "forwarding/port.h"
#include "host/machine.h"
#include "packet/pool.h"
#include "support/dress.h"
#include "switch/switch.h"

// A VirtualFabric is a whole fabric in one thread and in virtual time: the real switches, ports and
// host machines, joined by cables with a delay. One seed replays everything.
namespace tributary::test {

using host::Machine;

// A HostSpec is a worker's host: one address behind one port of one switch.
struct HostSpec {
  std::string switch_name;
  std::string port_name;
  wire::Ipv4Address address;
  wire::Ipv4Address gateway;   // equal to `address`: the port is bridged, peers are on the segment
  std::uint64_t rate_bps = 0;  // at which it sends; 0: as fast as it likes
  Dress dress{};               // of all that it sends and hears
};

struct FabricSpec {
  std::vector<control::SwitchSection> switches;  // devices: InternalLink, or anything for a host
  std::vector<HostSpec> hosts;
  unsigned cores = 1;        // per switch
  bool one_segment = false;  // the bridges are joined: their hosts reach each other without routers
  Duration cable_delay = std::chrono::microseconds(5);
  // Switches send over each cable at this rate, to the nanosecond, behind the queues of their
  // ports, whose shapers may be a millisecond ahead of the line. 0: they send as fast as these let
  // go.
  std::uint64_t cable_rate_bps = 0;
  // This share of all frames on cables comes a second time, as a stray, up to `stray_delay` later.
  double stray = 0;
  Duration stray_delay{};
  double ring_loss = 0;  // share of the partial sums that find the ring between two cores full
  double forged = 0;     // share of all frames on cables that a stranger's forgery follows
  double marked = 0;     // share of all frames on cables that a queue has marked (ECN)
  std::uint64_t seed = 1;
};

// A Hop is a frame that comes out of a cable.
struct Hop {
  Time at{};
  std::string_view switch_name;
  std::string_view port;
  bool at_host = false;  // at the host behind this port, not at the switch
  wire::Bytes frame;
};

// A LinkEnd is an end of a cable between two switches.
struct LinkEnd {
  std::size_t switch_index = 0;
  PortIndex port = 0;
};

// Spent says how long the code under test took, by the steady clock: the machines of all hosts, and
// all switches without their ports.
struct Spent {
  std::chrono::nanoseconds machines{};
  std::chrono::nanoseconds switches{};
};

class VirtualFabric {
 public:
  static constexpr std::size_t pool_packets = 16384;
  static constexpr std::uint32_t frame_bytes_max = 2048;

  // A pool of the caller's saves the making of one per fabric; it outlives the fabric.
  explicit VirtualFabric(FabricSpec spec, HeapPacketPool* pool = nullptr);
  ~VirtualFabric();
  VirtualFabric(const VirtualFabric&) = delete;
  VirtualFabric& operator=(const VirtualFabric&) = delete;

  // Returns the endpoint of a host, for the jobs of the machines.
  host::Endpoint endpoint(std::size_t host, std::uint16_t udp_port = 17000) const;

  // Plugs a machine in at a host; it receives what is sent to (host's address, udp_port), and what
  // comes from any multicast group. `idle` is called whenever the host was looked at and the
  // machine has no collective to run.
  void attach(std::size_t host, std::uint16_t udp_port, Machine& machine,
              std::function<void()> idle = {});
  // The worker dies: its machine is not looked at any more.
  void detach(const Machine& machine);
  // The workers of this host do not send before this time.
  void hold_back(std::size_t host, Time until);
  // The workers of this host stand still until then: what comes meanwhile is lost.
  void suspend(std::size_t host, Time until);
  // Is called when a machine of this host was told to do something.
  void wake(std::size_t host);

  // From now on there is nothing on a cable that was not sent; what is on its way still arrives.
  void stop_strays() { spec_.stray = spec_.forged = 0; }

  // A frame of the caller's own making leaves a host; the fabric fills in the Ethernet addresses.
  void inject(std::size_t host, PacketPtr frame);

  // Does something at a point of time, before anything else that happens then.
  void at(Time when, std::function<void()> action);

  // Kills the daemon of a switch, which comes up again: all soft state and all queues are lost.
  void restart_switch(std::size_t switch_index);
  // Pulls the cable at a port, or plugs it in again; both ends notice.
  void set_link_up(const LinkEnd& end, bool up);
  // Returns one end of every cable between two switches.
  std::vector<LinkEnd> links() const;
  // Returns one end of every cable, those of hosts included: that at the switch.
  std::vector<LinkEnd> cables() const;
  std::size_t switch_count() const { return spec_.switches.size(); }
  const switching::SwitchConfig& config(std::size_t switch_index) const {
    return spec_.switches[switch_index].config;
  }
  std::size_t host_count() const { return spec_.hosts.size(); }

  // Runs until no machine is running, or `limit` of virtual time has passed.
  void run(Duration limit);
  // Runs while `wanted`, for `limit` of virtual time, as long as there is anything to do.
  void run_while(const std::function<bool()>& wanted, Duration limit);

  Time now() const { return now_; }
  // Returns the same point of time for the host machines, which have a clock type of their own.
  host::Time host_now() const { return host::Time(now_.time_since_epoch()); }
  std::vector<Ledger> ledgers() const;  // of all switches, cores and lives
  // Returns the engines of that name, or all, that live on a switch, on each core.
  std::vector<const engine::Engine*> engines(std::size_t switch_index,
                                             std::string_view name = {}) const;
  // Adds up a figure over all engines of that name, or of any, and over all their lives.
  std::uint64_t figure(std::string_view name, std::string_view engine = {}) const;
  // Adds up a figure over those engines that live.
  std::uint64_t figure_now(std::string_view name, std::string_view engine = {}) const;
  // Counts frames that engines of this name had to take, as far as nothing damaged them on the way.
  std::uint64_t claimed(std::string_view engine) const;
  std::uint64_t frames() const { return next_order_; }  // that were put on cables
  std::uint64_t digest() const { return digest_; }      // of all that came out of cables

  void trace(std::function<void(const Hop&)> sink) { trace_ = std::move(sink); }
  // From now on what is spent is added there; null: nowhere.
  void measure(Spent* spent) { spent_ = spent; }

 private:
  struct SwitchNode;
  struct HostNode;
  // A Flight is a frame on a cable; flights are ordered by time, then by when they were sent.
  struct Flight {
    Time arrival{};
    std::uint64_t order = 0;
    std::size_t node = 0;  // switches first, then hosts
    PortIndex port = 0;
    PacketPtr frame;
  };
  struct Action {
    Time when{};
    std::uint64_t order = 0;
    std::function<void()> act;
  };

  void build_switches();
  void build_hosts();
  void make_shares(SwitchNode& node);
  void bury(const SwitchNode& node);
  std::size_t find_switch(std::string_view name) const;
  PortIndex find_port(std::size_t switch_index, std::string_view name) const;

  void service_due();
  void service(SwitchNode& node);
  void service(HostNode& node);
  Time due_of(const SwitchNode& node) const;
  Time due_of(const HostNode& node) const;
  Time next_time() const;
  void advance(Time next);

  bool happens(double share);
  void launch(PacketPtr frame, std::size_t node, PortIndex port, Duration delay = {});
  Duration occupy_line(Time& line_free, std::uint64_t rate_bps, std::size_t frame_bytes) const;
  void put_on_cable(PacketPtr frame, std::size_t node, PortIndex port, Duration delay);
  void deliver(Flight flight);
  void note(const Flight& flight);
  void count_claimed(const switching::SwitchConfig& config, Packet& packet);
  void switch_burst(SwitchNode& node, PacketList ready);
  void absorb_output(SwitchNode& node, unsigned core, switching::Output& output);
  void receive_on(SwitchNode& node, unsigned core, PacketList packets);
  void hand_over(SwitchNode& node, switching::Output& output);

  void send(HostNode& node, const host::Datagram& datagram, const Machine& machine,
            std::uint16_t udp_port);
  wire::MacAddress next_hop(const HostNode& node, wire::Ipv4Address destination) const;
  wire::MacAddress next_hop_on_bridge(const HostNode& node, wire::Ipv4Address destination) const;
  void deliver_to_host(HostNode& node, Packet& frame);
  void hand_over(Machine& machine, const host::Arrival& arrival) const;
  void answer_arp(const HostNode& node, wire::MutableCursor cursor);
  void answer_solicitation(const HostNode& node, Packet& frame);
  void answer(const HostNode& node, PacketPtr frame);
  PacketPtr allocate();

  FabricSpec spec_;
  std::unique_ptr<HeapPacketPool> own_pool_;
  HeapPacketPool& pool_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SwitchNode>> switches_;
  std::vector<std::unique_ptr<HostNode>> hosts_;
  std::vector<Time> due_;        // by node: when it has to be looked at next
  std::vector<Flight> flights_;  // a heap, earliest first
  std::vector<Action> actions_;  // a heap, earliest first
  std::uint64_t next_order_ = 0;
  std::uint64_t next_action_ = 0;
  std::uint64_t digest_ = 0;
  std::array<std::uint64_t, protocols_max> claimed_{};  // packets, by the row of who claims them
  std::vector<Ledger> past_ledgers_;                    // of the lives before a restart
  struct PastFigure {
    std::string_view engine;
    engine::Figure figure;
  };
  std::vector<PastFigure> past_figures_;
  std::function<void(const Hop&)> trace_;
  Spent* spent_ = nullptr;
  Time now_{std::chrono::seconds(1)};
};

}  // namespace tributary::test
