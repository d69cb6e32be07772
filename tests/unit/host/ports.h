// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

#include "system/abstract_address.h"

// Ports and groups that each process with tests on real sockets has for itself, beside others that
// run at the same time.
namespace tributary::host::test {

// Numbers are below this limit, so that each process has enough ports.
constexpr std::uint32_t most_processes = 16;

// Returns the least number that no other process has. A name of an abstract Unix socket holds it,
// which stays open: the kernel takes it back with the process. It counts within the network
// namespace, as ports do.
inline std::uint32_t process_number() {
  static const std::uint32_t own = [] {
    const int holder = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    std::uint32_t number = 0;
    for (; number < most_processes - 1; ++number) {
      const AbstractAddress address("tributary-tests-" + std::to_string(number));
      if (::bind(holder, address.get(), address.size()) == 0) {
        break;
      }
    }
    return number;
  }();
  return own;
}

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

// Returns the first of so many ports of the loopback interface for listening. They are below those
// that Linux gives to connections, any of which could be taken a moment later.
inline std::uint16_t next_ports(std::uint16_t count = 1) {
  constexpr std::uint32_t first = 18000;
  constexpr std::uint32_t ports = 14000 / most_processes;
  static std::atomic<std::uint32_t> taken = 0;
  while (true) {
    const auto offset = process_number() * ports + taken.fetch_add(count) % (ports - count);
    const auto port = static_cast<std::uint16_t>(first + offset);
    std::uint16_t free = 0;
    while (free < count && is_free_on_loopback(static_cast<std::uint16_t>(port + free))) {
      ++free;
    }
    if (free == count) {
      return port;
    }
  }
}

// Returns a multicast group that no other test uses.
inline std::string next_multicast_group() {
  constexpr std::uint32_t groups = 0x10000 / most_processes;
  static std::atomic<std::uint32_t> taken = 0;
  const auto number = process_number() * groups + taken++ % groups;
  return "239.192." + std::to_string(number >> 8) + "." + std::to_string(number & 0xff);
}

}  // namespace tributary::host::test
