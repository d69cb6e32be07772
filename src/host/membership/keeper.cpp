// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/keeper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

#include <sodium/core.h>

#include "host/membership/liveness.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

// A process that comes says who it is as soon as it is connected; one that does not is a stranger.
constexpr std::size_t callers_max = 256;
constexpr auto greeting_patience = std::chrono::seconds(2);
constexpr auto look_at_clock = std::chrono::milliseconds(200);
// A connection that does not take what it is told is given up once so many bytes wait for it.
constexpr std::size_t unsent_bytes_max = std::size_t{128} << 20;

std::string address_of_peer(int fd) {
  SocketName remote;
  return ::getpeername(fd, remote.get(), &remote.bytes) == 0 ? to_string(from_sockaddr(remote).ip())
                                                             : "nowhere";
}

}  // namespace

Result<Keeper> Keeper::at(const Endpoint& place, std::string_view secret, Say say) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  return listen_on(place).map(
      [&](Listener listener) { return Keeper(std::move(listener), secret, std::move(say)); });
}

void Keeper::serve(const std::function<bool()>& stops) {
  while (!stops()) {
    look();
    reception_.expire(Clock::now());
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
  const auto until = std::min<Time>(reception_.deadline(), Clock::now() + look_at_clock);
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
        connections_, [this](const Connection& one) { return is_stranger(one); });
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
  watch_over(connection.fd.get());
  reception_.welcome(connection.id, address_of_peer(connection.fd.get()));
  connections_.push_back(std::move(connection));
  tell_all();
}

bool Keeper::is_stranger(const Connection& connection) const {
  return !connection.gone && reception_.is_stranger(connection.id);
}

// Drops the stranger that has been here longest. A process that this befalls comes again.
bool Keeper::drop_oldest_stranger() {
  const auto found = std::ranges::find_if(
      connections_, [this](const Connection& one) { return is_stranger(one); });
  if (found != connections_.end()) {
    found->gone = true;
  }
  return found != connections_.end();
}

// Lets nobody in for a while: those who wait for that would have every poll return at once.
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
  if (!connection.gone) {
    reception_.hear(connection.id, wire::Bytes(bytes).first(static_cast<std::size_t>(length)),
                    Clock::now());
  }
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
  for (const auto& [to, bytes] : reception_.take()) {
    const auto found = std::ranges::find(connections_, to, &Connection::id);
    if (found != connections_.end()) {
      found->unsent.insert(found->unsent.end(), bytes.begin(), bytes.end());
      send(*found);
    }
  }
  for (const auto& line : reception_.take_lines()) {
    say_(line);
  }
}

// Ends connections that are over. A process that was dismissed takes what it is still told first.
void Keeper::reap() {
  const auto now = Clock::now();
  for (auto& one : connections_) {
    const bool told_all = reception_.is_dismissed(one.id) && one.unsent.empty();
    one.gone |= told_all || (is_stranger(one) && now - one.since > greeting_patience);
    if (one.gone) {
      reception_.leave(one.id, now);
    }
  }
  std::erase_if(connections_, [](const Connection& one) { return one.gone; });
}

}  // namespace tributary::host
