// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/tcp.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "host/transport/address.h"
#include "host/transport/datagram_socket.h"

namespace tributary::host {
namespace {

constexpr int backlog = 1024;
constexpr auto retry_pause = std::chrono::milliseconds(20);

FileDescriptor new_socket(const Endpoint& of) {
  const int family = of.prefix ? AF_INET6 : AF_INET;
  return FileDescriptor(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Returns a value of errno, or 0, for a connection of which the kernel says nothing bad. A
// connection that an ICMP error ends just then, as from a router that has no way for a moment, may
// be ready and without an error, but has no peer; later ICMP errors end nothing (RFC 1122,
// 4.2.3.9). And while nobody listens on a port from which connections leave, too, the kernel may
// connect a socket to itself.
int fault_of(int fd) {
  SocketName local;
  SocketName remote;
  if (::getsockname(fd, local.get(), &local.bytes) != 0 ||
      ::getpeername(fd, remote.get(), &remote.bytes) != 0) {
    return errno;
  }
  return from_sockaddr(local) == from_sockaddr(remote) ? ECONNREFUSED : 0;
}

// Makes one attempt, and returns a value of errno; 0 when connected.
Result<int> try_connect(int fd, const Endpoint& remote, Time until, const Wait& wait) {
  const auto name = to_sockaddr(remote);
  if (::connect(fd, name.get(), name.bytes) == 0) {
    return fault_of(fd);
  }
  if (errno != EINPROGRESS) {
    return errno;
  }
  return wait(fd, POLLOUT, until).map([fd](bool ready) {
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (ready) {
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    }
    return error == 0 ? fault_of(fd) : error;
  });
}

Error timed_out(const char* what) {
  return Error{Error::Code::timeout, std::string(what) + ": the deadline passed"};
}

Error broken(const char* what) {
  return Error{Error::Code::network, errno_text(what)};
}

}  // namespace

int poll_timeout(Time until) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::min(Clock::now(), until));
  return static_cast<int>(std::min<std::int64_t>(left.count(), 1'000'000));
}

bool wait_for(int fd, short events, Time until) {
  pollfd entry{fd, events, 0};
  for (;;) {
    const int ready = ::poll(&entry, 1, poll_timeout(until));
    if (ready > 0) {
      return true;
    }
    if ((ready == 0 || errno != EINTR) && Clock::now() >= until) {
      return false;
    }
  }
}

Result<Listener> listen_on(const Endpoint& local) {
  Listener listener{new_socket(local), local};
  const int fd = listener.fd.get();
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  SocketName name;
  if (!bind_to(fd, local) || ::listen(fd, backlog) != 0 ||
      ::getsockname(fd, name.get(), &name.bytes) != 0) {
    return fail(Error::Code::network, errno_text("cannot listen on " + to_string(local)));
  }
  listener.local.port = from_sockaddr(name).port;
  return listener;
}

Result<bool> wait_alone(int fd, short events, Time until) {
  return wait_for(fd, events, until);
}

FileDescriptor accept_now(const Listener& listener) {
  FileDescriptor accepted(
      ::accept4(listener.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (accepted) {
    set_option(accepted.get(), IPPROTO_TCP, TCP_NODELAY, 1);
  }
  return accepted;
}

Result<FileDescriptor> accept_until(const Listener& listener, Time until, const Wait& wait) {
  for (;;) {
    if (auto accepted = accept_now(listener)) {
      return accepted;
    }
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      return fail(Error::Code::network, errno_text("cannot accept connections"));
    }
    const auto ready = wait(listener.fd.get(), POLLIN, until);
    if (!ready) {
      return tl::make_unexpected(ready.error());
    }
    if (!*ready || Clock::now() >= until) {
      return tl::make_unexpected(timed_out("accept"));
    }
  }
}

Result<FileDescriptor> connect_until(const Endpoint& remote,
                                     const std::optional<wire::IpAddress>& local, Time until,
                                     const Wait& wait, WhenRefused refused) {
  for (;;) {
    auto fd = new_socket(remote);
    set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    if (!fd || (local && !bind_to(fd.get(), Endpoint::at(*local, 0)))) {
      return tl::make_unexpected(broken("TCP socket"));
    }
    const auto error = try_connect(fd.get(), remote, until, wait);
    if (!error) {
      return tl::make_unexpected(error.error());
    }
    if (*error == 0) {
      return fd;
    }
    const bool hopeless = *error == ECONNREFUSED && refused == WhenRefused::give_up;
    if (hopeless || Clock::now() + retry_pause >= until) {
      errno = *error;
      return fail(hopeless ? Error::Code::network : Error::Code::timeout,
                  errno_text("no connection to " + to_string(remote)));
    }
    if (const auto paused = wait(-1, 0, Clock::now() + retry_pause); !paused) {
      return tl::make_unexpected(paused.error());
    }
  }
}

Result<void> send_all(int fd, wire::Bytes bytes, Time until, const Wait& wait) {
  while (!bytes.empty()) {
    const auto sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return tl::make_unexpected(broken("send"));
    } else if (const auto ready = wait(fd, POLLOUT, until); !ready) {
      return tl::make_unexpected(ready.error());
    } else if (!*ready) {
      return tl::make_unexpected(timed_out("send"));
    }
  }
  return {};
}

Result<void> receive_all(int fd, wire::MutableBytes bytes, Time until, const Wait& wait) {
  while (!bytes.empty()) {
    const auto received = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (received > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(received));
    } else if (received == 0) {
      return fail(Error::Code::network, "the other side closed the connection");
    } else if (errno != EAGAIN && errno != EINTR) {
      return tl::make_unexpected(broken("receive"));
    } else if (const auto ready = wait(fd, POLLIN, until); !ready) {
      return tl::make_unexpected(ready.error());
    } else if (!*ready) {
      return tl::make_unexpected(timed_out("receive"));
    }
  }
  return {};
}

}  // namespace tributary::host
