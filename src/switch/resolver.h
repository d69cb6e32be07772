// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "forwarding/neighbour_table.h"
#include "forwarding/route_table.h"
#include "switch/bridge.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "wire/ethernet.h"

namespace tributary::switching {

// A Resolver is the router's way onto a link: it finds the neighbour's link-layer address,
// addresses the frame to it and sends it, and keeps what has to wait for an answer. Each version of
// IP says how its neighbours are asked.
template <typename Address>
class Resolver {
 public:
  using Table = forwarding::NeighbourTable<Address>;
  using Question = forwarding::Question<Address>;
  using Gateway = forwarding::NextHopBy<Address>;

  virtual ~Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // Prefetches the neighbour's entry: a frame is about to be sent to `address`.
  [[gnu::always_inline]] forwarding::ProbeHome prefetch(const Address& address) const {
    return table_.prefetch(address);
  }
  // Sends a frame to `address` on `interface`. It has room for an Ethernet header, whose type is
  // filled in.
  [[gnu::always_inline]] void send(PacketPtr&& frame, PortIndex interface, const Address& address,
                                   Account account, Time now) {
    const auto known = table_.find(address, now);
    if (known.mac == nullptr) {
      send_later(std::move(frame), interface, address, account, now);
      return;
    }
    transmit(std::move(frame), interface, *known.mac, account, now);
    if (known.ask) {
      ask({address, interface}, now);
    }
  }

  // Returns whether a frame came from this neighbour, as far as it is known.
  bool has_sent(const Packet& frame, const Address& address, Time now) const {
    const auto* mac = table_.find_settled(table_.prefetch(address), address, now);
    return mac != nullptr &&
           *mac == reinterpret_cast<const wire::EthernetHeader*>(frame.data())->source;
  }

  // Sends what waited for neighbours that became known.
  void flush(Time now);
  // Returns the packets whose neighbours gave no answer. They go to drop_unresolved(), when their
  // senders have been told.
  [[nodiscard]] PacketList expire(Time now);
  void drop_unresolved(PacketPtr packet);
  Time deadline() const;

  // Forgets who was behind an interface whose link went down: when it comes back, somebody else may
  // be there.
  void forget(PortIndex interface) {
    table_.forget_if([=](const Address&, PortIndex of) { return of == interface; });
  }

  // Gateways are resolved before the first packet needs them, and kept so, whoever else talks.
  void set_gateways(std::vector<Gateway> gateways);

  const std::vector<Gateway>& gateways() const { return gateways_; }

  const Table& table() const { return table_; }

 protected:
  // Packets that wait are dropped for these reasons.
  struct Reasons {
    DropReason unresolved;
    DropReason queue_full;
  };
  Resolver(const Interfaces& interfaces, Bridge& bridge, Outlet& outlet, CoreShare share,
           Table table, Reasons reasons);

  // Returns the bridge's own interface if it is in another VLAN than when this was asked the last
  // time, else no_port: the neighbours that were behind it are those of the VLAN before.
  PortIndex interface_in_another_vlan();

  virtual void ask(const Question& question, Time now) = 0;

  [[gnu::always_inline]] void transmit(PacketPtr&& frame, PortIndex interface,
                                       const wire::MacAddress& destination, Account account,
                                       Time now) {
    wire::MutableCursor cursor(frame->bytes());
    auto* ethernet = cursor.take<wire::EthernetHeader>();
    ethernet->destination = destination;
    ethernet->source = interfaces_.mac(interface);
    if (forwarding::is_on_bridge(interface)) {
      bridge_.send_routed(std::move(frame), interface, account, now);
    } else {
      outlet_.send(std::move(frame), interface, account);
    }
  }

  const Interfaces& interfaces_;
  Outlet& outlet_;
  Table table_;

 private:
  static constexpr Duration gateway_check_interval = std::chrono::seconds(1);

  // Sends the frame when the neighbour has answered, and asks it if nobody has.
  void send_later(PacketPtr frame, PortIndex interface, const Address& address, Account account,
                  Time now);
  void check_gateways(Time now);

  Bridge& bridge_;
  bool keeps_gateways_;  // one core asks, the others are taught
  Reasons reasons_;
  std::uint16_t bridge_vid_;
  std::vector<Question> questions_;  // scratch
  std::vector<Gateway> gateways_;
  Time gateway_check_at_ = never;
};

extern template class Resolver<wire::Ipv4Address>;
extern template class Resolver<wire::IpAddress>;

}  // namespace tributary::switching
