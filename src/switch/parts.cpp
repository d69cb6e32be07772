// SPDX-License-Identifier: BSD-3-Clause
#include "switch/parts.h"

#include <cstdint>
#include <random>

namespace tributary::switching {
namespace {

// Table seeds are drawn: a stranger could aim at what he can compute. They change no decision
// unless a table overflows.
std::uint64_t draw_seed(const SwitchConfig& config) {
  if (config.table_seed != 0) {
    return config.table_seed;
  }
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

}  // namespace

Parts::Parts(const SwitchConfig& config, CoreShare share, PacketPool& pool,
             std::span<const forwarding::QueueGauge> gauges)
    : interfaces_(config),
      embedding_(config),
      outlet_(interfaces_, pool, share, gauges),
      bridge_(config, interfaces_, outlet_, draw_seed(config)),
      neighbours_(config, interfaces_, bridge_, outlet_, share, draw_seed(config)),
      neighbours6_(config, interfaces_, bridge_, outlet_, share, draw_seed(config)),
      liveness_(interfaces_, neighbours_, neighbours6_, outlet_, share, draw_seed(config)),
      router_(config, interfaces_, neighbours_, liveness_, outlet_),
      advertiser6_(config, interfaces_, bridge_, outlet_, share, draw_seed(config)),
      router6_(config, interfaces_, neighbours6_, liveness_, advertiser6_, outlet_),
      aggregation_(config, interfaces_, pool, share.cores),
      departures_(interfaces_, embedding_, bridge_, router_, router6_, outlet_),
      announcer_(interfaces_, bridge_, neighbours_, neighbours6_, share) {
  outlet_.reconfigure(config);
  liveness_.reconfigure(config.bfd);
  follow_liveness();
}

void Parts::follow_liveness() {
  if (liveness_.take_change()) {
    router_.set_unhealthy(liveness_.unhealthy());
    router6_.set_unhealthy(liveness_.unhealthy());
    tell_of_routes();
  }
}

void Parts::tell_of_routes() {
  liveness_.set_cut_off({router_.routes().cut_off(), router6_.routes().cut_off()});
}

void Parts::learn(const Packet& update, Time now) {
  if (update.ingress == no_port) {
    liveness_.learn(update);
    follow_liveness();
    return;
  }
  wire::Cursor cursor(update.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet == nullptr || update.ingress >= interfaces_.count()) {
    return;
  }
  const auto& port = interfaces_.port(update.ingress);
  if (!port.up) {  // who is behind it was forgotten
    return;
  }
  if (port.bridged()) {
    bridge_.learn_quietly(update, ethernet->source, now);
  }
  const auto interface = interfaces_.interface_of(update);
  if (interface == no_port) {
    return;
  }
  if (const auto* arp = Neighbours::parse(*ethernet, cursor.rest()); arp != nullptr) {
    neighbours_.learn_quietly(*arp, interface, now);
  } else if (ethernet->type.value() == wire::ethertype::ipv6 &&
             is_heard(update, ethernet->destination, now)) {
    neighbours6_.learn_quietly(update, interface, now);
    advertiser6_.learn(update, interface, now);
  }
}

// A frame between stations of the bridge was published for the bridge alone.
bool Parts::is_heard(const Packet& frame, const wire::MacAddress& destination, Time now) {
  return !interfaces_.port(frame.ingress).bridged() || destination.is_group() ||
         bridge_.find(frame, destination, now) == forwarding::bridge_interface;
}

void Parts::set_port_up(PortIndex port, bool up) {
  if (port >= interfaces_.count() || interfaces_.port(port).up == up) {
    return;
  }
  interfaces_.set_up(port, up);
  router_.set_port_up(port, up);
  router6_.set_port_up(port, up);
  tell_of_routes();
  if (up) {
    liveness_.hurry(port);
    advertiser6_.hurry(port);
    announcer_.hurry(port);
  } else {
    bridge_.forget(port);
    neighbours_.forget(port);
    neighbours6_.forget(port);
  }
}

void Parts::reconfigure(const SwitchConfig& config) {
  interfaces_.reconfigure(config);
  embedding_ = Embedding(config);
  outlet_.reconfigure(config);
  bridge_.reconfigure(config);
  neighbours_.reconfigure(config);
  router_.reconfigure(config);
  neighbours6_.reconfigure(config);
  advertiser6_.reconfigure(config);
  router6_.reconfigure(config);
  liveness_.reconfigure(config.bfd);
  follow_liveness();
  aggregation_.reconfigure(config);
  announcer_.reconfigure();
}

}  // namespace tributary::switching
