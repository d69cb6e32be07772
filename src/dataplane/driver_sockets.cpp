// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_sockets.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace tributary::dataplane {
namespace {

using Accept = int (*)(int, sockaddr*, socklen_t*);
using SendMessage = ssize_t (*)(int, const msghdr*, int);

bool is_memif_kind(int socket) {
  int type = 0;
  int domain = 0;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
         getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

// Returns this process's sockets with that name: the listener, and those that it has accepted.
std::vector<int> sockets_at(const std::string& file) {
  std::vector<int> found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const auto name = entry.path().filename().string();
    int fd = -1;
    std::from_chars(name.data(), name.data() + name.size(), fd);
    sockaddr_un address{};
    socklen_t size = sizeof address;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
        address.sun_family == AF_UNIX && file == address.sun_path) {
      found.push_back(fd);
    }
  }
  return found;
}

bool listens(int socket) {
  int listening = 0;
  socklen_t size = sizeof listening;
  return getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 && listening != 0;
}

ssize_t bytes_of(const msghdr& message) {
  ssize_t bytes = 0;
  for (std::size_t i = 0; i < message.msg_iovlen; ++i) {
    bytes += static_cast<ssize_t>(message.msg_iov[i].iov_len);
  }
  return bytes;
}

void close_waiting(int listener) {
  fcntl(listener, F_SETFL, fcntl(listener, F_GETFL) | O_NONBLOCK);
  for (int waiting = -1; (waiting = accept(listener, nullptr, nullptr)) >= 0;) {
    close(waiting);
  }
}

// Messages that have come already would be read in spite of the end, so they are taken away.
void end_connection(int socket) {
  shutdown(socket, SHUT_RDWR);
  std::array<std::byte, 256> message;
  while (recv(socket, message.data(), message.size(), MSG_DONTWAIT) > 0) {
  }
}

}  // namespace

void end_connections_at(const std::string& file) {
  for (const int socket : sockets_at(file)) {
    listens(socket) ? close_waiting(socket) : end_connection(socket);
  }
}

int accept_without_waiting(int socket, sockaddr* address, socklen_t* size) {
  static const auto real = reinterpret_cast<Accept>(dlsym(RTLD_NEXT, "accept"));
  const int accepted = real(socket, address, size);
  if (accepted >= 0 && is_memif_kind(accepted)) {
    fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) | O_NONBLOCK);
  }
  return accepted;
}

ssize_t send_to_who_may_be_gone(int socket, const msghdr* message, int flags) {
  static const auto real = reinterpret_cast<SendMessage>(dlsym(RTLD_NEXT, "sendmsg"));
  const ssize_t sent = real(socket, message, flags);
  const bool is_gone = sent < 0 && (errno == EPIPE || errno == ECONNRESET);
  return is_gone && is_memif_kind(socket) ? bytes_of(*message) : sent;
}

}  // namespace tributary::dataplane

// These functions take the place of libc's for this program and all of its libraries, as munmap()
// does in driver_memory.cpp.
extern "C" int accept(int socket, sockaddr* address, socklen_t* size) {
  return tributary::dataplane::accept_without_waiting(socket, address, size);
}
extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  return tributary::dataplane::send_to_who_may_be_gone(socket, message, flags);
}
