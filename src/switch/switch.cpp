// SPDX-License-Identifier: BSD-3-Clause
#include "switch/switch.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "switch/express_lane.h"
#include "switch/frame_ways.h"
#include "switch/hand_over.h"

namespace tributary::switching {

class Switch::Impl : public FrameWays {
 public:
  Impl(const SwitchConfig& config, CoreShare share, PacketPool& pool,
       std::span<const forwarding::QueueGauge> gauges)
      : FrameWays(config, share, pool, gauges),
        lane_(interfaces_, aggregation_.classifier(),
              RouterLane(interfaces_, neighbours_, router_, outlet_), BridgeLane(bridge_, outlet_)),
        has_lane_(config.express_lane),
        actions_(outlet_.ledger(), share.cores, outlet_.dropped_from()),
        hand_over_(aggregation_, actions_, share.cores) {
    actions_.departures().reserve(1024);
    actions_.answers().reserve(actions_.departures().capacity());
    actions_.origins().reserve(actions_.departures().capacity() * engine::Actions::origins_max);
  }

  void receive(PacketList burst, Time now, Output& out) {
    bind(out);
    outlet_.ledger().received += burst.size();
    do {
      std::size_t taken = 0;
      while (taken < pass_packets && !burst.empty()) {
        taken += accept_stage(burst, now);
      }
      aggregation_.process(now, actions_);
      finish(now);
    } while (!burst.empty());
  }

  void merge(PacketList sums, Time now, Output& out) {
    bind(out);
    hand_over_.merge(std::move(sums), now);
    finish(now);
  }

  void expire(Time now, Output& out) {
    bind(out);
    aggregation_.expire(now, actions_);
    bridge_.fdb().expire(now);
    router_.give_up(neighbours_.expire(now), now);
    router6_.give_up(neighbours6_.expire(now), now);
    advertiser6_.expire(now);
    announcer_.expire(now);
    if (liveness_.looks_at_queues(now)) {
      liveness_.note_queues(router_.queues_behind(), now);
    }
    liveness_.expire(now);
    finish(now);
  }

  Time deadline() const {
    return std::min({aggregation_.deadline(), bridge_.fdb().deadline(), neighbours_.deadline(),
                     neighbours6_.deadline(), advertiser6_.deadline(), announcer_.deadline(),
                     liveness_.deadline()});
  }

 private:
  // Engines get no more packets at once than they and the actions have room for.
  static constexpr std::size_t pass_packets = 256;

  void bind(Output& out) {
    outlet_.bind(&out);
    hand_over_.prepare(out.passed_on, out.partial_sums);
  }

  // The packets of a stage wait for memory together: for their headers, then for the table entries
  // that they look up. They leave in their order, whichever way they go.
  std::size_t accept_stage(PacketList& burst, Time now) {
    std::size_t count = 0;
    for (; count < arrived_.size() && !burst.empty(); ++count) {
      arrived_[count] = burst.pop();
      arrived_[count]->prefetch();
    }
    if (bridge_.vlans().on()) {
      count = enter_vlans(std::span(arrived_).first(count));
    }
    const auto arrived = std::span(arrived_).first(count);
    if (embedding_.on()) {
      enter_embedded(arrived);
    }
    if (has_lane_) {
      lane_.look_at(arrived);
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!lane_.expects(i)) {
        admit(std::move(arrived[i]), stage_[i]);
      }
    }
    for (std::size_t i = 0; (i = lane_.send_from(i, arrived, now)) < count; ++i) {
      if (lane_.expects(i)) {
        admit_late(std::move(arrived[i]), stage_[i]);
      }
      if (stage_[i].packet) {
        accept(stage_[i], now);
      }
    }
    return count;
  }

  // Sends what the engines want sent, and what waited for a neighbour.
  void finish(Time now) {
    follow_liveness();
    departures_.send(actions_, now);
    neighbours_.flush(now);
    neighbours6_.flush(now);
    hand_over_.send(outlet_.out().passed_on, outlet_.out().partial_sums);
  }

  ExpressLane lane_;
  bool has_lane_;
  engine::Actions actions_;
  HandOver hand_over_;
  std::array<PacketPtr, ExpressLane::stage_packets> arrived_;
  std::array<Accepted, ExpressLane::stage_packets> stage_;
};

Switch::Switch(const SwitchConfig& config, CoreShare share, PacketPool& pool,
               std::span<const forwarding::QueueGauge> gauges)
    : impl_(std::make_unique<Impl>(config, share, pool, gauges)) {}
Switch::~Switch() = default;

void Switch::receive(PacketList burst, Time now, Output& out) {
  impl_->receive(std::move(burst), now, out);
}
void Switch::merge(PacketList sums, Time now, Output& out) {
  impl_->merge(std::move(sums), now, out);
}
void Switch::learn(const Packet& update, Time now) {
  impl_->learn(update, now);
}
void Switch::expire(Time now, Output& out) {
  impl_->expire(now, out);
}
Time Switch::deadline() const {
  return impl_->deadline();
}
void Switch::announce() {
  impl_->announce();
}
void Switch::withdraw() {
  impl_->withdraw();
}
void Switch::set_port_up(PortIndex port, bool up) {
  impl_->set_port_up(port, up);
}
void Switch::reconfigure(const SwitchConfig& config) {
  impl_->reconfigure(config);
}
const Ledger& Switch::ledger() const {
  return impl_->ledger();
}
std::uint64_t Switch::dropped_from(PortIndex port) const {
  return impl_->dropped_from(port);
}
TableSizes Switch::table_sizes() const {
  return {impl_->bridge().fdb().size(), impl_->neighbours().table().size(),
          impl_->router().routes().size(), impl_->neighbours6().table().size(),
          impl_->router6().routes().size()};
}
std::vector<forwarding::FdbRow> Switch::fdb(Time now) const {
  return impl_->bridge().fdb().rows(now);
}
forwarding::PortAddresses Switch::addresses(PortIndex port) const {
  return impl_->bridge().fdb().addresses(port);
}
std::vector<forwarding::VlanRow> Switch::vlans() const {
  return impl_->bridge().routed();
}
std::vector<forwarding::ArpRow> Switch::arp(Time now) const {
  return impl_->neighbours().table().rows(now);
}
std::vector<forwarding::NeighbourRow6> Switch::neighbours6(Time now) const {
  return impl_->neighbours6().rows(now);
}
std::vector<forwarding::RouteRow6> Switch::routes6() const {
  return impl_->router6().routes().rows();
}
std::vector<forwarding::RouteRow> Switch::routes() const {
  return impl_->router().routes().rows();
}
std::vector<forwarding::AdvertiserRow> Switch::advertisers() const {
  return impl_->advertiser6().rows();
}
std::vector<forwarding::BfdRow> Switch::bfd() const {
  return impl_->liveness().rows();
}
std::vector<EngineView> Switch::engines() const {
  return impl_->aggregation().views();
}

}  // namespace tributary::switching
