// SPDX-License-Identifier: BSD-3-Clause
#include "property/membership/desk.h"

#include <algorithm>
#include <utility>

#include "property/membership/memory.h"

namespace tributary::test {
namespace {

using host::Word;
using host::WordKind;
using Said = KeeperModel::Said;

// Memory of a connection: its greeting, the beginning of a message, the data that it shared, and
// their containers.
constexpr std::ptrdiff_t bytes_per_connection = 6 * 1024;
constexpr std::ptrdiff_t bytes_of_nobody = 2 * 1024;
// Memory that grew with the number of simultaneous connections, and has not shrunk.
constexpr std::ptrdiff_t bytes_of_room = 512;

template <typename Head>
Head head_of(const Word& word) {
  const auto* const head = wire::Cursor(word.body).take<Head>();
  return head == nullptr ? Head{} : *head;
}

Said said_of(const Word& word) {
  Said said;
  switch (word.kind) {
    case WordKind::place: {
      const auto place = head_of<host::MembershipPlace>(word);
      said = {KeeperModel::Kind::place, place.epoch.value(),     place.rank.value(),
              place.world_size.value(), place.newcomers.value(), {}};
      break;
    }
    case WordKind::shares:
      said = {KeeperModel::Kind::shares,
              head_of<host::Epoch>(word).number.value(),
              0,
              0,
              0,
              {word.body.begin() + sizeof(host::Epoch), word.body.end()}};
      break;
    case WordKind::waiting:
      said = {
          KeeperModel::Kind::waiting, 0, 0, 0, head_of<host::WaitingCount>(word).count.value(), {}};
      break;
    case WordKind::ended:
      said = {KeeperModel::Kind::ended, head_of<host::Epoch>(word).number.value(), 0, 0, 0, {}};
      break;
    default:
      said = {KeeperModel::Kind::dismissed, 0, 0, 0, 0, {}};
  }
  return said;
}

std::string text_of(const std::vector<Said>& all) {
  constexpr const char* names[] = {"place", "shares", "waiting", "ended", "dismissed"};
  std::string text;
  for (const auto& one : all) {
    text += std::string(" ") + names[static_cast<std::size_t>(one.kind)] + " of " +
            std::to_string(one.epoch) + " (rank " + std::to_string(one.rank) + " of " +
            std::to_string(one.world_size) + ", count " + std::to_string(one.count) + ")";
  }
  return text.empty() ? " nothing" : text;
}

}  // namespace

Desk::Desk(const std::string& secret, Send send, Say say)
    : secret_(secret), reception_(secret), send_(std::move(send)), say_(std::move(say)) {}

void Desk::welcome(Id id, host::Time now) {
  auto& connection = connections_[id];
  connection.raw = sizeof(host::RendezvousWelcome);
  present_max_ = std::max(present_max_, ++present_);
  {
    const CountsMemory counts(held_bytes_);
    reception_.welcome(id, "connection " + std::to_string(id));
  }
  compare(now);
}

void Desk::expect(Id id, std::size_t bytes, const Meant& meant) {
  auto& connection = connections_.at(id);
  if (connection.is_changed) {
    return;
  }
  connection.promised += bytes;
  connection.expected.emplace_back(connection.promised, meant);
}

void Desk::introduce(Id id, const host::RendezvousNonce& guest) {
  auto& connection = connections_.at(id);
  connection.session.guest = guest;
  connection.listener.emplace(secret_, connection.session, host::WordStream::End::member);
}

void Desk::hear(Id id, wire::Bytes bytes, host::Time now) {
  auto& connection = connections_.at(id);
  if (!connection.is_here) {
    return;
  }
  {
    const CountsMemory counts(held_bytes_);
    reception_.hear(id, bytes, now);
  }
  connection.heard += bytes.size();
  while (!connection.expected.empty() && connection.expected.front().first <= connection.heard) {
    const auto meant = std::move(connection.expected.front().second);
    connection.expected.pop_front();
    take_in(id, connection, meant, now);
  }
  compare(now);
}

void Desk::take_in(Id id, Connection& connection, const Meant& meant, host::Time now) {
  if (connection.is_out) {
    return;
  }
  bool makes_sense = true;
  switch (meant.kind) {
    case Meant::Kind::found:
      model_.found(id, meant.rank, meant.world_size);
      break;
    case Meant::Kind::join:
      model_.join(id, meant.options);
      break;
    case Meant::Kind::refused:
      model_.refuse(id);
      break;
    case Meant::Kind::regroup:
      makes_sense = model_.regroup(id, meant.epoch, meant.world_size, meant.patience, now);
      break;
    case Meant::Kind::share:
      makes_sense = model_.share(id, meant.epoch, meant.shared);
      break;
  }
  note_memberships();
  if (!makes_sense) {
    model_.leave(id, now);
    model_.refuse(id);
  }
}

void Desk::leave(Id id, host::Time now) {
  const auto found = connections_.find(id);
  if (found == connections_.end() || !std::exchange(found->second.is_here, false)) {
    return;
  }
  --present_;
  {
    const CountsMemory counts(held_bytes_);
    reception_.leave(id, now);
  }
  model_.leave(id, now);
  compare(now);
}

void Desk::expire(host::Time now) {
  {
    const CountsMemory counts(held_bytes_);
    reception_.expire(now);
  }
  model_.expire(now);
  compare(now);
}

// Returns the time at which the reception or the model has something to do.
host::Time Desk::deadline() const {
  return std::min(reception_.deadline(), model_.deadline());
}

void Desk::compare(host::Time now) {
  auto said = take_said();
  // When a process whose message was changed is turned away depends on the change.
  for (auto& [id, connection] : connections_) {
    if (connection.is_changed && !connection.is_out && reception_.is_dismissed(id)) {
      connection.is_out = true;
      model_.leave(id, now);
    }
  }
  auto wanted = model_.take();
  note_memberships();
  for (auto& [id, connection] : connections_) {
    const auto& of_it = wanted[id];
    connection.is_out |= !of_it.empty() && of_it.back().kind == KeeperModel::Kind::dismissed;
    if (connection.is_here && !connection.is_changed && said[id] != of_it) {
      blame("connection " + std::to_string(id) + " was told" + text_of(said[id]) + " and not" +
            text_of(of_it));
    }
  }
  check_memory();
}

// Passes on what the reception has said since the last look, and returns it.
std::map<Desk::Id, std::vector<Said>> Desk::take_said() {
  std::vector<host::Reception::Told> told;
  std::vector<std::string> lines;
  {
    const CountsMemory counts(held_bytes_);
    told = reception_.take();
    lines = reception_.take_lines();
  }
  std::ranges::for_each(lines, say_);
  std::map<Id, std::vector<Said>> said;
  for (const auto& [to, bytes] : told) {
    listen(to, bytes, said);
    send_(to, bytes);
  }
  const CountsMemory counts(held_bytes_);
  std::vector<host::Reception::Told>().swap(told);
  std::vector<std::string>().swap(lines);
  return said;
}

void Desk::listen(Id id, const std::vector<std::byte>& bytes,
                  std::map<Id, std::vector<Said>>& said) {
  auto& connection = connections_.at(id);
  if (connection.raw != 0) {
    host::RendezvousWelcome welcome;
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(&welcome));
    connection.session.host = welcome.nonce;
    connection.raw = 0;
    return;
  }
  if (!connection.listener) {
    return;
  }
  connection.listener->feed(bytes);
  for (auto word = connection.listener->next(); !word || *word;
       word = connection.listener->next()) {
    if (!word) {
      connection.listener.reset();
      // A process whose greeting was changed gets messages that it must not believe.
      return connection.is_changed ? void() : blame("it says what is no word");
    }
    said[id].push_back(said_of(**word));
    connection.said.push_back(std::move(**word));
  }
}

void Desk::note_memberships() {
  if (model_.epoch() == 0 || memberships_.count(model_.epoch()) != 0) {
    return;
  }
  auto& members = memberships_[model_.epoch()];
  for (const auto& [_, member] : model_.members()) {
    members.push_back(member);
  }
}

void Desk::check_memory() {
  const auto bound = bytes_of_nobody +
                     static_cast<std::ptrdiff_t>(present_) * bytes_per_connection +
                     static_cast<std::ptrdiff_t>(present_max_) * bytes_of_room;
  if (held_bytes_ > bound) {
    blame("a keeper with " + std::to_string(present_) + " connections holds " +
          std::to_string(held_bytes_) + " bytes");
  }
}

void Desk::blame(const std::string& what) {
  if (fault_.empty()) {
    fault_ = what;
  }
}

}  // namespace tributary::test
