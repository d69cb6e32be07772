// SPDX-License-Identifier: BSD-3-Clause
#include "switch/announcer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "switch/leads_to.h"

namespace tributary::switching {
namespace {

// RFC 4861 (section 10, MAX_NEIGHBOR_ADVERTISEMENT) allows three, and RFC 5227 asks for one less:
// one may get lost. They follow each other by the ANNOUNCE_INTERVAL of RFC 5227.
constexpr std::uint32_t announcements = 3;
constexpr Duration between_announcements = std::chrono::seconds(2);

template <typename Own>
bool is_same(const std::optional<Own>& a, const std::optional<Own>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->address == b->address && a->length == b->length));
}

}  // namespace

Announcer::Announcer(const Interfaces& interfaces, const Bridge& bridge, Neighbours& neighbours,
                     Neighbours6& neighbours6, CoreShare share)
    : interfaces_(interfaces),
      bridge_(bridge),
      neighbours_(neighbours),
      neighbours6_(neighbours6),
      speaks_(share.core == core),
      speeches_(speeches_of(interfaces)) {}

std::vector<Announcer::Speech> Announcer::speeches_of(const Interfaces& interfaces) {
  std::vector<Speech> speeches;
  const auto add = [&](PortIndex interface, std::uint16_t vid = 0) {
    const auto& address = interfaces.address(interface);
    const auto& address6 = interfaces.address6(interface);
    if (address || address6) {
      speeches.push_back({interface, vid, address, address6});
    }
  };
  for (PortIndex port = 0; port < interfaces.count(); ++port) {
    add(port);
  }
  for (const auto& one : interfaces.on_bridge()) {
    add(one.interface, one.vid);
  }
  return speeches;
}

void Announcer::announce() {
  for (auto& speech : speeches_) {
    speech.left = announcements;
  }
  refresh_deadline();
}

void Announcer::hurry(PortIndex port) {
  for (auto& speech : speeches_) {
    if (leads_to(port, speech.interface, interfaces_, bridge_.vlans())) {
      speech.left = announcements;
    }
  }
  refresh_deadline();
}

void Announcer::reconfigure() {
  const auto before = std::exchange(speeches_, speeches_of(interfaces_));
  for (auto& speech : speeches_) {
    const auto same = std::find_if(before.begin(), before.end(), [&](const Speech& known) {
      return known.interface == speech.interface && known.vid == speech.vid &&
             is_same(known.address, speech.address) && is_same(known.address6, speech.address6);
    });
    if (same != before.end()) {
      speech = *same;
    } else {
      speech.left = announcements;
    }
  }
  refresh_deadline();
}

void Announcer::expire(Time now) {
  if (now < deadline_) {
    return;
  }
  for (auto& speech : speeches_) {
    if (speech.left == 0 || speech.due > now) {
      continue;
    }
    if (!interfaces_.is_up(speech.interface)) {
      speech.left = 0;  // until hurry()
      continue;
    }
    neighbours_.announce(speech.interface, now);
    neighbours6_.announce(speech.interface, now);
    --speech.left;
    speech.due = now + between_announcements;
  }
  refresh_deadline();
}

void Announcer::refresh_deadline() {
  deadline_ = never;
  for (const auto& speech : speeches_) {
    deadline_ = std::min(deadline_, speaks_ && speech.left > 0 ? speech.due : never);
  }
}

}  // namespace tributary::switching
