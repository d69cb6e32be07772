// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/reception.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "host/object_bytes.h"

namespace tributary::host {

void Reception::welcome(Id id, const std::string& address) {
  auto& guest = guests_[id];
  guest.address = address;
  guest.session.host = draw_nonce();
  RendezvousWelcome welcome;
  welcome.magic = membership_magic;
  welcome.version = membership_version;
  welcome.secret = secret_.given() ? 1 : 0;
  welcome.nonce = guest.session.host;
  told_.push_back({id, body_of(welcome)});
}

void Reception::hear(Id id, wire::Bytes bytes, Time now) {
  const auto found = guests_.find(id);
  if (found == guests_.end() || found->second.ends) {
    return;
  }
  auto& guest = found->second;
  if (guest.stream) {
    return listen_to(id, guest, bytes, now);
  }
  const auto taken = bytes.first(std::min(sizeof(MemberGreeting) - guest.greeting.size(),  //
                                          bytes.size()));
  guest.greeting.insert(guest.greeting.end(), taken.begin(), taken.end());
  if (guest.greeting.size() == sizeof(MemberGreeting)) {
    greet(id, guest, now);
    if (!guest.ends) {
      listen_to(id, guest, bytes.subspan(taken.size()), now);
    }
  }
}

void Reception::greet(Id id, Guest& guest, Time now) {
  MemberGreeting greeting;
  std::memcpy(&greeting, guest.greeting.data(), sizeof greeting);
  if (greeting.hello.magic.value() != membership_magic) {
    guest.ends = true;
    return;
  }
  guest.session.guest = greeting.nonce;
  guest.stream.emplace(secret_, guest.session, WordStream::End::keeper);
  const bool believed = secret_.believes(greeting.proof, RendezvousStep::member_greeting,
                                         guest.session, bytes_of(greeting.hello));
  if (!believed || (!secret_.given() && greeting.proof != RendezvousProof{})) {
    return turn_away(id, guest,
                     "this process and the keeper do not have the same secret; give "
                     "all ranks and the keeper the same TRIBUTARY_SECRET",
                     now);
  }
  roster_.come(id, greeting.hello, guest.address);
  pass_on();
}

void Reception::listen_to(Id id, Guest& guest, wire::Bytes bytes, Time now) {
  guest.stream->feed(bytes);
  while (!guest.ends) {
    const auto word = guest.stream->next();
    if (word && !*word) {
      return;
    }
    if (!word || !roster_.hear(id, **word, now)) {
      return turn_away(id, guest, word ? "it said what makes no sense now" : word.error().message,
                       now);
    }
    pass_on();
  }
}

// Whoever is turned away may be a stranger, to whom a proof tells nothing. A member is a member no
// more from then on, also if it does not take that in.
void Reception::turn_away(Id id, Guest& guest, const std::string& why, Time now) {
  roster_.leave(id, now);
  pass_on();
  lines_.push_back("turned away from " + guest.address + ": " + why);
  const auto text = bytes_of_text(why);
  told_.push_back({id, guest.stream->write({WordKind::dismissed, {text.begin(), text.end()}})});
  guest.ends = true;
}

void Reception::leave(Id id, Time now) {
  guests_.erase(id);
  roster_.leave(id, now);
}

bool Reception::is_stranger(Id id) const {
  const auto found = guests_.find(id);
  return found != guests_.end() && !found->second.stream && !found->second.ends;
}

bool Reception::is_dismissed(Id id) const {
  const auto found = guests_.find(id);
  return found != guests_.end() && found->second.ends;
}

// Passes what the roster says on to those who may still hear it.
void Reception::pass_on() {
  for (auto& [to, word] : roster_.take()) {
    const auto found = guests_.find(to);
    if (found == guests_.end() || !found->second.stream || found->second.ends) {
      continue;
    }
    told_.push_back({to, found->second.stream->write(word)});
    found->second.ends = word.kind == WordKind::dismissed;
  }
  std::ranges::move(roster_.take_lines(), std::back_inserter(lines_));
}

std::vector<Reception::Told> Reception::take() {
  pass_on();
  return std::exchange(told_, {});
}

std::vector<std::string> Reception::take_lines() {
  pass_on();
  return std::exchange(lines_, {});
}

}  // namespace tributary::host
