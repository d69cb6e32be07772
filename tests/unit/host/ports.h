// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tributary::host::test {

inline bool is_free_on_loopback(std::uint16_t port) {
  const int probe = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr any = {};
  std::memcpy(&any, &address, sizeof any);
  const bool free = ::bind(probe, &any, sizeof any) == 0;
  ::close(probe);
  return free;
}

// The first of so many ports of the loopback for listening. Below those that Linux gives to
// connections, any of which could be taken a moment later; other processes that test begin
// elsewhere.
inline std::uint16_t next_ports(std::uint16_t count = 1) {
  constexpr std::uint32_t first = 18000;
  constexpr std::uint32_t ports = 14000;
  static std::atomic<std::uint32_t> taken{static_cast<std::uint32_t>(::getpid()) * 701};
  while (true) {
    const auto port = static_cast<std::uint16_t>(first + taken.fetch_add(count) % ports);
    std::uint16_t free = 0;
    while (free < count && is_free_on_loopback(static_cast<std::uint16_t>(port + free))) {
      ++free;
    }
    if (free == count) {
      return port;
    }
  }
}

}  // namespace tributary::host::test
