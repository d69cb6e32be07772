// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/keeper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

#include <sodium/core.h>

#include "host/membership/liveness.h"
#include "host/object_bytes.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// Who comes says who it is as soon as it is connected; who does not is a stranger.
constexpr std::size_t callers_max = 256;
constexpr auto greeting_patience = std::chrono::seconds(2);
constexpr auto look_at_clock = std::chrono::milliseconds(200);
// Of one who does not take what it is told.
constexpr std::size_t unsent_bytes_max = std::size_t{128} << 20;

std::string address_of_peer(int fd) {
  sockaddr_in remote{};
  socklen_t size = sizeof remote;
  return ::getpeername(fd, reinterpret_cast<sockaddr*>(&remote), &size) == 0
             ? to_string(from_sockaddr(remote).address)
             : "nowhere";
}

}  // namespace

Result<Keeper> Keeper::at(const Endpoint& place, std::string_view secret, Say say) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  return listen_on(place).map([&](Listener listener) {
    return Keeper(std::move(listener), Secret(secret), std::move(say));
  });
}

void Keeper::serve(const std::function<bool()>& stops) {
  while (!stops()) {
    look();
    roster_.expire(Clock::now());
    tell_all();
    reap();
    tell_all();
  }
}

void Keeper::look() {
  polled_.clear();
  const bool is_open = Clock::now() >= callers_from_;
  polled_.push_back({is_open ? listener_.fd.get() : -1, POLLIN, 0});
  for (const auto& one : connections_) {
    const auto events = static_cast<short>(one.unsent.empty() ? POLLIN : POLLIN | POLLOUT);
    polled_.push_back({one.fd.get(), events, 0});
  }
  const auto until = std::min<Time>(roster_.deadline(), Clock::now() + look_at_clock);
  ::poll(polled_.data(), polled_.size(), poll_timeout(until));
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    if ((polled_[i + 1].revents & ~POLLOUT) != 0) {
      hear(connections_[i]);
    }
    if ((polled_[i + 1].revents & POLLOUT) != 0) {
      send(connections_[i]);
    }
  }
  if (polled_.front().revents != 0) {
    accept_connections();
  }
}

void Keeper::accept_connections() {
  constexpr int burst = 64;
  for (int i = 0; i < burst; ++i) {
    auto fd = accept_now(listener_);
    if (!fd) {
      const bool is_exhausted = errno == EMFILE || errno == ENFILE;
      if (is_exhausted && !drop_oldest_stranger()) {
        rest_from_callers();
      }
      return;
    }
    welcome(std::move(fd));
    const auto strangers = std::ranges::count_if(
        connections_, [](const Connection& one) { return !one.stream && !one.gone; });
    if (static_cast<std::size_t>(strangers) > callers_max) {
      drop_oldest_stranger();
    }
  }
}

void Keeper::welcome(FileDescriptor fd) {
  Connection connection;
  connection.id = next_id_++;
  connection.fd = std::move(fd);
  connection.since = Clock::now();
  connection.address = address_of_peer(connection.fd.get());
  connection.session.host = draw_nonce();
  watch_over(connection.fd.get());
  RendezvousWelcome welcome;
  welcome.magic = membership_magic;
  welcome.version = membership_version;
  welcome.secret = secret_.given() ? 1 : 0;
  welcome.nonce = connection.session.host;
  connection.unsent.assign(bytes_of(welcome).begin(), bytes_of(welcome).end());
  connections_.push_back(std::move(connection));
  send(connections_.back());
}

// The one that has been here longest. A process that this befalls comes again.
bool Keeper::drop_oldest_stranger() {
  const auto found = std::ranges::find_if(
      connections_, [](const Connection& one) { return !one.stream && !one.gone; });
  if (found != connections_.end()) {
    found->gone = true;
  }
  return found != connections_.end();
}

// Who waits to be let in would have every poll return at once.
void Keeper::rest_from_callers() {
  callers_from_ = Clock::now() + look_at_clock;
  if (!std::exchange(said_exhausted_, true)) {
    say_("out of file descriptors with " + std::to_string(connections_.size()) +
         " processes: others wait until some are gone; raise 'ulimit -n' and start it anew to have "
         "room for more");
  }
}

void Keeper::hear(Connection& connection) {
  std::array<std::byte, 4096> bytes;
  const auto length = ::recv(connection.fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  if (length <= 0) {
    connection.gone = true;
    return;
  }
  const auto heard = wire::Bytes(bytes).first(static_cast<std::size_t>(length));
  if (connection.ends || connection.gone) {
    return;
  }
  if (connection.stream) {
    return listen_to(connection, heard);
  }
  const auto wanted = sizeof(MemberGreeting) - connection.greeting.size();
  const auto taken = heard.first(std::min(wanted, heard.size()));
  connection.greeting.insert(connection.greeting.end(), taken.begin(), taken.end());
  if (connection.greeting.size() == sizeof(MemberGreeting)) {
    greet(connection);
    if (connection.stream && !connection.ends) {
      listen_to(connection, heard.subspan(taken.size()));
    }
  }
}

void Keeper::greet(Connection& connection) {
  MemberGreeting greeting;
  std::memcpy(&greeting, connection.greeting.data(), sizeof greeting);
  if (greeting.hello.magic.value() != membership_magic) {
    connection.gone = true;
    return;
  }
  connection.session.guest = greeting.nonce;
  connection.stream.emplace(secret_, connection.session, WordStream::End::keeper);
  const bool believed = secret_.believes(greeting.proof, RendezvousStep::member_greeting,
                                         connection.session, bytes_of(greeting.hello));
  if (!believed || (!secret_.given() && greeting.proof != RendezvousProof{})) {
    return turn_away(connection,
                     "this process and the keeper do not have the same secret; give "
                     "all ranks and the keeper the same TRIBUTARY_SECRET");
  }
  roster_.come(connection.id, greeting.hello, connection.address);
}

void Keeper::listen_to(Connection& connection, wire::Bytes bytes) {
  connection.stream->feed(bytes);
  for (;;) {
    const auto word = connection.stream->next();
    if (word && !*word) {
      return;
    }
    if (!word || !roster_.hear(connection.id, **word, Clock::now())) {
      return turn_away(connection, word ? "it said what makes no sense now" : word.error().message);
    }
  }
}

// Who is told so may be a stranger, to whom a proof tells nothing.
void Keeper::turn_away(Connection& connection, const std::string& why) {
  say_("turned away from " + connection.address + ": " + why);
  const auto text = bytes_of_text(why);
  const auto word = connection.stream->write({WordKind::dismissed, {text.begin(), text.end()}});
  connection.unsent.insert(connection.unsent.end(), word.begin(), word.end());
  connection.ends = true;
  send(connection);
}

void Keeper::send(Connection& connection) {
  while (!connection.unsent.empty()) {
    const auto sent = ::send(connection.fd.get(), connection.unsent.data(),
                             connection.unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) {
      const bool waits = sent < 0 && (errno == EAGAIN || errno == EINTR);
      connection.gone |= !waits || connection.unsent.size() > unsent_bytes_max;
      return;
    }
    connection.unsent.erase(connection.unsent.begin(), connection.unsent.begin() + sent);
  }
}

void Keeper::tell_all() {
  for (auto& [to, word] : roster_.take()) {
    const auto found = std::ranges::find(connections_, to, &Connection::id);
    if (found == connections_.end() || !found->stream || found->ends) {
      continue;
    }
    const auto bytes = found->stream->write(word);
    found->unsent.insert(found->unsent.end(), bytes.begin(), bytes.end());
    found->ends = word.kind == WordKind::dismissed;
    send(*found);
  }
  for (const auto& line : roster_.take_lines()) {
    say_(line);
  }
}

// What one is told last it takes in its own time, but not for ever.
void Keeper::reap() {
  const auto now = Clock::now();
  for (auto& one : connections_) {
    const bool told_all = one.ends && one.unsent.empty();
    const bool is_stranger = !one.stream && now - one.since > greeting_patience;
    one.gone |= told_all || is_stranger;
    if (one.gone) {
      roster_.leave(one.id, now);
    }
  }
  std::erase_if(connections_, [](const Connection& one) { return one.gone; });
}

}  // namespace tributary::host
