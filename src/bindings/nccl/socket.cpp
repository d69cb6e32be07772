// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/nccl/socket.h"

#include <arpa/inet.h>
#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

namespace tributary::nccl {
namespace {

constexpr int backlog = 4096;  // all ranks of a communicator may come to one of them at once

sockaddr_in raw(const Place& place) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(place.address);
  address.sin_port = htons(place.port);
  return address;
}

Socket make_socket() {
  return Socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

void send_at_once(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Moved moved(ssize_t bytes) {
  if (bytes > 0) {
    return {static_cast<std::size_t>(bytes), false};
  }
  const bool later = bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
  return {0, !later};
}

}  // namespace

Socket listen_on(std::uint32_t address) {
  auto socket = make_socket();
  const auto at = raw({address, 0});
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      ::listen(socket.get(), backlog) != 0) {
    return {};
  }
  return socket;
}

std::uint16_t port_of(const Socket& listener) {
  sockaddr_in at{};
  socklen_t bytes = sizeof at;
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &bytes);
  return ntohs(at.sin_port);
}

Socket accept_from(const Socket& listener) {
  Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket) {
    send_at_once(socket);
  }
  return socket;
}

Socket start_to_connect(const Place& place) {
  auto socket = make_socket();
  const auto at = raw(place);
  if (!socket || (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 &&
                  errno != EINPROGRESS)) {
    return {};
  }
  send_at_once(socket);
  return socket;
}

Connecting look_at(const Socket& socket) {
  pollfd ready{socket.get(), POLLOUT, 0};
  if (::poll(&ready, 1, 0) == 0) {
    return Connecting::yet;
  }
  int error = 0;
  socklen_t bytes = sizeof error;
  const bool asked = ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0;
  return asked && error == 0 ? Connecting::done : Connecting::failed;
}

Moved send_some(const Socket& socket, const void* data, std::size_t bytes) {
  return bytes == 0 ? Moved{} : moved(::send(socket.get(), data, bytes, MSG_NOSIGNAL));
}

Moved receive_some(const Socket& socket, void* data, std::size_t bytes) {
  return bytes == 0 ? Moved{} : moved(::recv(socket.get(), data, bytes, 0));
}

}  // namespace tributary::nccl
