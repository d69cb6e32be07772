// SPDX-License-Identifier: BSD-3-Clause
#include "switch/liveness.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "wire/key.h"

namespace tributary::switching {
namespace {

// One core tells the others this about a next hop. Both ends are this process.
struct [[gnu::packed]] Word {
  static constexpr std::uint8_t whole = 0xff;

  std::array<std::uint8_t, 16> neighbour{};  // wire::IpAddress
  std::uint8_t health = whole;
};

// How soon neighbours hear of a queue does not depend on how soon they are to notice our death.
constexpr Duration look_interval = std::chrono::milliseconds(1);

// While all queues are empty an idle core may sleep for longer: only the first news is later. A
// core that has to speak more often is awake anyway.
Duration look_interval_idle(const forwarding::BfdConfig& config) {
  constexpr Duration longest = std::chrono::milliseconds(10);
  return std::clamp(config.interval / 10, look_interval, longest);
}

// A slow line shows soon that news of its queue will still be true when neighbours act on it.
unsigned weight_of(QueuesBehind queues) {
  return queues == QueuesBehind::crowded_for_long ? 3 : queues == QueuesBehind::crowded ? 1 : 0;
}

}  // namespace

Liveness::Liveness(const Interfaces& interfaces, Neighbours& neighbours, Neighbours6& neighbours6,
                   Outlet& outlet, CoreShare share, std::uint64_t seed)
    : interfaces_(interfaces),
      neighbours_(neighbours),
      neighbours6_(neighbours6),
      outlet_(outlet),
      keeps_sessions_(share.core == core),
      seed_(seed) {}

std::vector<Liveness::Hop> Liveness::gateways() const {
  std::vector<Hop> gateways;
  for (const auto& hop : neighbours_.gateways()) {
    gateways.push_back({hop.via, hop.interface});
  }
  for (const auto& hop : neighbours6_.gateways()) {
    gateways.push_back(hop);
  }
  return gateways;
}

void Liveness::reconfigure(const std::optional<forwarding::BfdConfig>& config) {
  config_ = config;
  look_at_ = Time{};
  const auto gateways = this->gateways();
  const auto wanted = [&](const wire::IpAddress& neighbour) -> const Hop* {
    const auto hop = std::find_if(gateways.begin(), gateways.end(),
                                  [&](const auto& each) { return each.via == neighbour; });
    return config && hop != gateways.end() ? &*hop : nullptr;
  };
  std::erase_if(unhealthy_, [&](const auto& each) { return !wanted(each.neighbour); });
  unhealthy_.reserve(gateways.size());
  changed_ = true;
  if (!keeps_sessions_) {
    return;
  }
  // A session that was leaving and is wanted again begins anew.
  std::erase_if(watches_, [&](const Watch& each) { return each.leaving && wanted(each.hop.via); });
  for (auto& each : watches_) {
    if (const auto* hop = wanted(each.hop.via)) {
      each.hop = *hop;  // its prefix may be in another VLAN now
      each.session.configure(*config);
    } else if (!each.leaving) {
      each.leaving = true;
      each.session.disable();
    }
  }
  for (const auto& hop : gateways) {
    const bool watched = std::any_of(watches_.begin(), watches_.end(),
                                     [&](const Watch& each) { return each.hop.via == hop.via; });
    if (config && !watched) {
      watch(hop);
    }
  }
}

void Liveness::watch(const Hop& hop) {
  const auto taken = [this](std::uint32_t discriminator) {
    return std::any_of(watches_.begin(), watches_.end(), [=](const Watch& each) {
      return each.session.discriminator() == discriminator;
    });
  };
  std::uint32_t discriminator = 0;
  while (discriminator == 0 || taken(discriminator)) {
    discriminator = static_cast<std::uint32_t>(wire::mix_key(++drawn_, seed_));
  }
  const auto port = wire::bfd_source_port_first + drawn_ % (65536 - wire::bfd_source_port_first);
  watches_.push_back({hop, forwarding::BfdSession(*config_, discriminator, seed_ ^ discriminator),
                      static_cast<std::uint16_t>(port)});
  watches_.back().session.set_cut_off(cut_off_.of(hop.via));
  watches_.back().session.set_crowded(is_crowded());
}

// A session is found by our discriminator, or by the interface and address that the packet came
// from (RFC 5880, 6.8.6). These have to be right in any case, since sessions of a single hop do not
// wander.
Liveness::Watch* Liveness::find(const wire::BfdHeader& header, const wire::IpAddress& source,
                                PortIndex interface) {
  const auto discriminator = header.your_discriminator.value();
  const auto found = std::find_if(watches_.begin(), watches_.end(), [&](const Watch& each) {
    return each.hop.via == source && each.hop.interface == interface &&
           (discriminator == 0 || each.session.discriminator() == discriminator);
  });
  return found == watches_.end() ? nullptr : &*found;
}

void Liveness::receive(PacketPtr packet, const BfdArrival& arrival, Time now) {
  auto reason = DropReason::bfd_malformed;
  if (arrival.hops_left != wire::bfd_ttl) {
    reason = DropReason::bfd_ttl;
  } else if (arrival.header != nullptr) {
    auto* found = find(*arrival.header, arrival.source, interfaces_.interface_of(*packet));
    if (found != nullptr) {
      found->session.receive(*arrival.header, now);
      outlet_.absorb(std::move(packet));
      serve(*found, now);
      return;
    }
    reason = DropReason::bfd_no_session;
  }
  outlet_.drop(std::move(packet), reason, Account::received);
}

void Liveness::expire(Time now) {
  for (auto& each : watches_) {
    if (each.session.deadline() <= now) {
      each.session.expire(now);
      serve(each, now);
    }
    if (each.leaving && each.gone_at == never) {
      each.gone_at = now + admin_down_time;
    }
  }
  std::erase_if(watches_, [&](const Watch& each) { return each.gone_at <= now; });
}

void Liveness::serve(Watch& watch, Time now) {
  const auto health = health_of(watch.session);
  if (note(watch.hop.via, health)) {
    tell(watch.hop.via, health);
  }
  while (const auto header = watch.session.poll(now)) {
    if (send(watch, *header, now)) {
      watch.session.count_sent();
    }
    tell(watch.hop.via, health);
  }
}

std::optional<wire::IpAddress> Liveness::own_address(const Hop& hop) const {
  const auto of = [](const auto& own) {
    return own ? std::optional<wire::IpAddress>(own->address) : std::nullopt;
  };
  return hop.via.is_v4() ? of(interfaces_.address(hop.interface))
                         : of(interfaces_.address6(hop.interface));
}

// The packet is built by hand and not routed: it has to leave by this interface or not at all. What
// waited for the neighbour goes first, as an old Down behind newer packets would make it believe
// that we failed.
bool Liveness::send(const Watch& watch, const wire::BfdHeader& header, Time now) {
  const auto& [via, interface] = watch.hop;
  const auto own = own_address(watch.hop);
  if (!own || !interfaces_.is_up(interface)) {
    return false;
  }
  auto packet = outlet_.originate();
  if (!packet) {
    return false;
  }
  if (!make_bfd(*packet, {*own, via, watch.source_port}, header)) {
    outlet_.drop(std::move(packet), DropReason::no_buffer, Account::originated);
    return false;
  }
  if (via.is_v4()) {
    neighbours_.flush(now);
    neighbours_.send(std::move(packet), interface, via.v4(), Account::originated, now);
  } else {
    neighbours6_.flush(now);
    neighbours6_.send_on(std::move(packet), interface, via, Account::originated, now);
  }
  return true;
}

Liveness::Health Liveness::health_of(const forwarding::BfdSession& session) {
  using forwarding::Ailment;
  return !session.alive()              ? Health(Ailment::dead)
         : session.neighbour_cut_off() ? Health(Ailment::cut_off)
         : session.neighbour_crowded() ? Health(Ailment::crowded)
                                       : std::nullopt;
}

bool Liveness::note(const wire::IpAddress& neighbour, Health health) {
  const auto known = std::find_if(unhealthy_.begin(), unhealthy_.end(),
                                  [&](const auto& each) { return each.neighbour == neighbour; });
  if (known == unhealthy_.end()) {
    if (!health) {
      return false;
    }
    unhealthy_.push_back({neighbour, *health});
  } else if (!health) {
    unhealthy_.erase(known);
  } else if (known->ailment == *health) {
    return false;
  } else {
    known->ailment = *health;
  }
  changed_ = true;
  return true;
}

void Liveness::tell(const wire::IpAddress& neighbour, Health health) {
  const Word word{neighbour.octets(), health ? static_cast<std::uint8_t>(*health) : Word::whole};
  outlet_.publish_liveness(std::as_bytes(std::span(&word, 1)));
}

void Liveness::learn(const Packet& update) {
  wire::Cursor cursor(update.bytes());
  const auto* word = cursor.take<Word>();
  if (word != nullptr && config_ && !keeps_sessions_) {
    const auto ailment = static_cast<forwarding::Ailment>(word->health);
    note(wire::IpAddress(word->neighbour),
         word->health == Word::whole ? Health() : Health(ailment));
  }
}

void Liveness::set_cut_off(const CutOff& cut_off) {
  cut_off_ = cut_off;
  for (auto& each : watches_) {
    each.session.set_cut_off(cut_off.of(each.hop.via));
  }
}

void Liveness::note_queues(QueuesBehind queues, Time now) {
  look_at_ = now + (queues == QueuesBehind::empty ? look_interval_idle(*config_) : look_interval);
  const auto weight = weight_of(queues);
  crowded_looks_ = weight == 0 ? 0 : std::min(crowded_looks_ + weight, crowded_looks_min);
  for (auto& each : watches_) {
    each.session.set_crowded(is_crowded());
  }
}

void Liveness::hurry(PortIndex port) {
  for (auto& each : watches_) {
    if (each.hop.interface == port) {
      each.session.hurry();
    }
  }
}

Time Liveness::deadline() const {
  Time earliest = next_look();
  for (const auto& each : watches_) {
    const auto end = each.leaving && each.gone_at == never ? Time{} : each.gone_at;
    earliest = std::min({earliest, each.session.deadline(), end});
  }
  return earliest;
}

bool Liveness::take_change() {
  return std::exchange(changed_, false);
}

std::vector<forwarding::BfdRow> Liveness::rows() const {
  std::vector<forwarding::BfdRow> rows;
  for (const auto& [hop, session, port, leaving, gone_at] : watches_) {
    const auto& counters = session.counters();
    rows.push_back({hop.via, hop.interface, session.alive(), session.state(),
                    session.remote_state(), session.diagnostic(), session.discriminator(),
                    session.remote_discriminator(), session.transmit_interval(),
                    session.detection_time(), counters.received, counters.sent, counters.failures});
  }
  return rows;
}

}  // namespace tributary::switching
