// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/host.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <span>
#include <sys/socket.h>

#include <sodium/randombytes.h>

#include "host/text.h"

namespace tributary::host {
namespace {

// Ranks say who they are as soon as they are connected; those who do not are strangers.
constexpr std::size_t strangers_max = 256;
constexpr auto hello_patience = std::chrono::seconds(2);
constexpr auto look_around = std::chrono::milliseconds(500);
constexpr auto refusal_patience = std::chrono::milliseconds(200);  // to send it
constexpr std::uint32_t outcome_bytes_max = 4096;

template <typename T>
T front_of(const std::vector<std::byte>& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

Result<void> RendezvousHost::gather(const Deadline& until) {
  while (!table_.complete()) {
    if (const auto looked = look(-1, 0, until.next_look()); !looked) {
      return refuse(looked.error().message, until.due());
    }
    if (until.passed(Clock::now())) {
      return refuse(until.is_given_up() ? meeting_given_up : missing_text(), until.due());
    }
  }
  agree(until.due());
  return {};
}

// Handles once what connections did. Waits for that no longer than until `fd` is ready, and returns
// whether it is.
Result<bool> RendezvousHost::look(int fd, short events, Time until) {
  polled_.clear();
  polled_.push_back({fd, events, 0});
  polled_.push_back({listener_.fd.get(), POLLIN, 0});
  for (const auto& connection : connections_) {
    polled_.push_back({connection.fd.get(), POLLIN, 0});
  }
  const auto wake_at = connections_.empty() ? until : std::min(until, Clock::now() + look_around);
  ::poll(polled_.data(), polled_.size(), poll_timeout(wake_at));
  for (auto& connection : connections_) {
    if (const auto complaint = listen_to(connection)) {
      return fail(Error::Code::rendezvous, *complaint);
    }
  }
  reap_idle();
  if (!accept_connections()) {
    return fail(Error::Code::rendezvous, "rank 0 is out of file descriptors; raise 'ulimit -n'");
  }
  return polled_.front().revents != 0;
}

// Returns false if there are no descriptors left, not even those of strangers.
bool RendezvousHost::accept_connections() {
  constexpr int burst = 64;  // so that they are heard before many more come
  for (int i = 0; i < burst; ++i) {
    auto fd = accept_now(listener_);
    if (!fd) {
      const bool exhausted = errno == EMFILE || errno == ENFILE;
      return !exhausted || drop_oldest_unproved();
    }
    welcome(std::move(fd));
    const auto strangers =
        std::count_if(connections_.begin(), connections_.end(),
                      [](const PendingConnection& one) { return one.state == State::stranger; });
    if (static_cast<std::size_t>(strangers) > strangers_max) {
      drop_oldest_unproved();
    }
  }
  return true;
}

void RendezvousHost::welcome(FileDescriptor fd) {
  PendingConnection connection;
  connection.fd = std::move(fd);
  connection.since = Clock::now();
  connection.session.host = draw_nonce();
  RendezvousWelcome welcome;
  welcome.secret = secret_.given() ? 1 : 0;
  welcome.nonce = connection.session.host;
  // A socket that is new has room for it.
  if (send_all(connection.fd.get(), std::as_bytes(std::span(&welcome, 1)), connection.since)) {
    connections_.push_back(std::move(connection));
  }
}

// Drops the stranger that has been here longest. A rank that this befalls comes again.
bool RendezvousHost::drop_oldest_unproved() {
  const auto found = std::find_if(
      connections_.begin(), connections_.end(),
      [](const PendingConnection& connection) { return connection.state == State::stranger; });
  if (found == connections_.end()) {
    return false;
  }
  connections_.erase(found);
  return true;
}

void RendezvousHost::reap_idle() {
  const auto latest = Clock::now() - hello_patience;
  std::erase_if(connections_, [&](const PendingConnection& connection) {
    return connection.state == State::gone ||
           (connection.state == State::stranger && connection.since < latest);
  });
}

std::size_t RendezvousHost::wanted_bytes(const PendingConnection& connection) const {
  const auto heard = connection.heard.size();
  if (connection.state == State::stranger) {
    // Nobody knows how long another version's greeting is.
    const bool is_other =
        heard >= sizeof(RendezvousHelloStart) &&
        front_of<RendezvousHelloStart>(connection.heard).version.value() != rendezvous_version;
    return is_other ? heard : sizeof(RendezvousGreeting);
  }
  if (connection.state == State::joining) {
    const auto bytes = heard < sizeof(RendezvousReply)
                           ? 0
                           : front_of<RendezvousReply>(connection.heard).bytes.value();
    return sizeof(RendezvousReply) + std::min(bytes, outcome_bytes_max) + sizeof(RendezvousProof);
  }
  return heard + 1;  // only to notice that it goes
}

RendezvousHost::Complaint RendezvousHost::listen_to(PendingConnection& connection) {
  const auto start = connection.heard.size();
  const auto wanted = wanted_bytes(connection);
  connection.heard.resize(wanted);
  const auto length =
      ::recv(connection.fd.get(), connection.heard.data() + start, wanted - start, MSG_DONTWAIT);
  connection.heard.resize(start + static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::nullopt;
  }
  if (length <= 0) {
    return leave(connection);
  }
  if (connection.heard.size() < wanted_bytes(connection)) {
    return std::nullopt;
  }
  switch (connection.state) {
    case State::stranger:
      return greeted_by(connection);
    case State::joining:
      return told_by(connection);
    case State::present:  // it says more than it was asked
    case State::ready:
    case State::gone:
      break;
  }
  return leave(connection);
}

// A rank may come again before all have come; later it is missing.
RendezvousHost::Complaint RendezvousHost::leave(PendingConnection& connection) {
  const auto before = std::exchange(connection.state, State::gone);
  if (before == State::present) {
    table_.remove(connection.rank);
  }
  const bool needed = before == State::joining || before == State::ready;
  return needed ? Complaint(rank_text(connection.rank) + " has ended; its own error says why")
                : std::nullopt;
}

RendezvousHost::Complaint RendezvousHost::greeted_by(PendingConnection& connection) {
  RendezvousGreeting greeting;  // another version's has just the start, and what else may have come
  std::memcpy(&greeting, connection.heard.data(), connection.heard.size());
  const auto& hello = greeting.hello;
  if (hello.magic.value() != rendezvous_magic) {
    connection.state = State::gone;
    return std::nullopt;
  }
  connection.heard.clear();
  connection.session.guest = greeting.nonce;
  const bool believed = secret_.believes(greeting.proof, RendezvousStep::greeting,
                                         connection.session, std::as_bytes(std::span(&hello, 1)));
  const auto complaint = complaint_about(greeting, believed);
  if (!complaint && refusal_.empty()) {
    connection.state = State::present;
    connection.rank = hello.rank.value();
    return std::nullopt;
  }
  const auto last = Clock::now() + refusal_patience;
  tell(connection, RendezvousStep::agreement, refusal(complaint.value_or(refusal_)), last);
  connection.state = State::gone;
  if (!believed) {
    turned_away_ = *complaint;
    return std::nullopt;
  }
  answered_.insert(hello.rank.value());
  return complaint;
}

// A complaint about a greeting that is believed ends the meeting for all.
RendezvousHost::Complaint RendezvousHost::complaint_about(const RendezvousGreeting& greeting,
                                                          bool believed) {
  const auto& hello = greeting.hello;
  const auto who = rank_text(hello.rank.value());
  if (hello.version.value() != rendezvous_version) {
    return table_.add(hello);
  }
  if (!believed) {
    return who + " from " + to_string(hello.address) +
           " does not know the secret of rank 0; give all ranks the same TRIBUTARY_SECRET";
  }
  if (!refusal_.empty()) {
    return std::nullopt;
  }
  if (secret_.given()) {
    return table_.add(hello);
  }
  if (greeting.proof != RendezvousProof{}) {
    return who + " was given a secret, rank 0 was not; give all ranks the same TRIBUTARY_SECRET";
  }
  auto complaint = table_.add(hello);
  if (complaint) {
    *complaint += "; anybody who reaches " + to_string(listener_.local) +
                  " can say so: with a TRIBUTARY_SECRET only ranks of the job are believed";
  }
  return complaint;
}

// Notes how a rank has fared.
RendezvousHost::Complaint RendezvousHost::told_by(PendingConnection& connection) {
  const auto message =
      wire::Bytes(connection.heard).first(connection.heard.size() - sizeof(RendezvousProof));
  const auto reply = front_of<RendezvousReply>(connection.heard);
  RendezvousProof proof;
  std::memcpy(proof.data(), connection.heard.data() + message.size(), proof.size());
  if (reply.magic.value() != rendezvous_magic ||
      !secret_.believes(proof, RendezvousStep::outcome, connection.session, message)) {
    return leave(connection);
  }
  const auto text = message.subspan(sizeof reply);
  if (reply.failed.value() != 0) {
    connection.state = State::gone;
    return rank_text(connection.rank) + ": " +
           std::string(reinterpret_cast<const char*>(text.data()), text.size());
  }
  connection.state = State::ready;
  connection.heard.clear();
  return std::nullopt;
}

// A rank that is gone by now finds out by itself.
void RendezvousHost::tell(const PendingConnection& connection, RendezvousStep step,
                          wire::Bytes message, Time until) const {
  const auto proof = secret_.prove(step, connection.session, message);
  (void)send_all(connection.fd.get(), message, until).and_then([&] {
    return send_all(connection.fd.get(), std::as_bytes(std::span(proof)), until);
  });
}

void RendezvousHost::agree(Time until) {
  JobKey drawn{};
  randombytes_buf(drawn.data(), drawn.size());
  const auto chosen = mine_.job.value();
  // Numbers that are drawn are never 0, which stands for none.
  const auto job =
      chosen != 0 ? chosen : 1 + randombytes_uniform(std::numeric_limits<std::uint32_t>::max());
  const auto message = table_.agreement(job, drawn);
  for (auto& connection : connections_) {
    if (connection.state == State::present) {
      tell(connection, RendezvousStep::agreement, message, until);
      connection.state = State::joining;
    }
  }
  meeting_ = *parse_agreement(wire::Bytes(message).subspan(sizeof(RendezvousReply)), mine_);
  meeting_.job.key = secret_.job_key(drawn);
}

// A rank that is not here yet hears of the refusal if it comes soon; nobody else could tell it.
// Without a secret those that were answered may have been strangers.
Result<void> RendezvousHost::refuse(const std::string& reason, Time until) {
  refusal_ = reason;
  for (auto& connection : connections_) {
    if (connection.state == State::present) {
      tell(connection, RendezvousStep::agreement, refusal(reason), Clock::now() + refusal_patience);
      connection.state = State::gone;
      answered_.insert(connection.rank);
    }
  }
  const auto end = std::min(until, Clock::now() + hello_patience);
  const auto all_know = [this] {
    return secret_.given() && answered_.size() + 1 >= mine_.world_size.value();
  };
  while (!all_know() && Clock::now() < end && look(-1, 0, end)) {
  }
  return fail(Error::Code::rendezvous, reason);
}

Result<bool> RendezvousHost::wait(int fd, short events, Time until) {
  for (;;) {
    const auto ready = look(fd, events, until);
    if (!ready) {
      (void)fail_all(ready.error().message);
    }
    if (!ready || *ready || Clock::now() >= until) {
      return ready;
    }
  }
}

Result<void> RendezvousHost::conclude(const Result<void>& mine, const Deadline& until) {
  if (!mine && !concluded_) {
    (void)fail_all("rank 0: " + mine.error().message);
  }
  if (!mine) {
    return mine;
  }
  for (auto unready = unready_text(); !unready.empty(); unready = unready_text()) {
    if (until.passed(Clock::now())) {
      return fail_all(until.is_given_up() ? meeting_given_up
                                          : unready + " did not join the ring by the deadline");
    }
    if (const auto looked = look(-1, 0, until.next_look()); !looked) {
      return fail_all(looked.error().message);
    }
  }
  RendezvousReply done;
  for (const auto& connection : connections_) {
    tell(connection, RendezvousStep::conclusion, std::as_bytes(std::span(&done, 1)), until.due());
  }
  concluded_ = true;
  return {};
}

Result<void> RendezvousHost::fail_all(const std::string& reason) {
  for (const auto& connection : connections_) {
    if (connection.state == State::joining || connection.state == State::ready) {
      tell(connection, RendezvousStep::conclusion, refusal(reason),
           Clock::now() + refusal_patience);
    }
  }
  concluded_ = true;
  return fail(Error::Code::rendezvous, reason);
}

std::string RendezvousHost::missing_text() const {
  auto text = "rank " + table_.missing() + " of " + std::to_string(mine_.world_size.value()) +
              " did not come to " + to_string(listener_.local) + " in time";
  if (!turned_away_.empty()) {
    text += "; turned away: " + turned_away_;
  }
  return text;
}

// Returns a rank that has not said how it fared; empty if all have.
std::string RendezvousHost::unready_text() const {
  const auto found = std::find_if(
      connections_.begin(), connections_.end(),
      [](const PendingConnection& connection) { return connection.state == State::joining; });
  return found == connections_.end() ? "" : rank_text(found->rank);
}

}  // namespace tributary::host
