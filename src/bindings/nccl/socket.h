// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unistd.h>
#include <utility>

namespace tributary::nccl {

// Owns a socket, which never blocks.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// A Place is an IPv4 address and a port, in host order.
struct Place {
  std::uint32_t address = 0;
  std::uint16_t port = 0;
};

// Returns an invalid socket if the system has none.
Socket listen_on(std::uint32_t address);
std::uint16_t port_of(const Socket& listener);
// Returns an invalid socket while nobody has come.
Socket accept_from(const Socket& listener);
// Returns a socket that is on its way there.
Socket start_to_connect(const Place& place);
enum class Connecting { yet, done, failed };
Connecting look_at(const Socket& socket);

// `bytes` is how many there was room for, or had come; `is_over` is set when the other side is
// gone.
struct Moved {
  std::size_t bytes = 0;
  bool is_over = false;
};
Moved send_some(const Socket& socket, const void* data, std::size_t bytes);
Moved receive_some(const Socket& socket, void* data, std::size_t bytes);

}  // namespace tributary::nccl
