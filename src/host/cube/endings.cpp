// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/endings.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

// Nothing tells when the other kernel has got everything, so it is looked up so often.
constexpr std::chrono::milliseconds look_interval{5};

// Where a socket is closed with something unread, the kernel resets the connection, and what it had
// not sent by then is lost.
void discard_input(int fd) {
  std::array<std::byte, 65536> discarded;
  ::recv(fd, discarded.data(), discarded.size(), MSG_DONTWAIT);
}

// Tells whether the other kernel has got everything, or has reset the connection.
bool has_arrived(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state == TCP_FIN_WAIT2 || info.tcpi_state == TCP_TIME_WAIT ||
         info.tcpi_state == TCP_CLOSE;
}

// Returns whether nothing more is to be done for this one.
bool advance(CubeEnding& ending) {
  discard_input(ending.fd);
  if (!ending.left.empty()) {
    const auto n =
        ::send(ending.fd, ending.left.data(), ending.left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
      return errno != EAGAIN && errno != EINTR;
    }
    ending.left = ending.left.subspan(static_cast<std::size_t>(n));
    if (ending.left.empty()) {
      ::shutdown(ending.fd, SHUT_WR);
    }
  }
  return ending.left.empty() && has_arrived(ending.fd);
}

void await_room(const std::vector<CubeEnding>& endings, Time until) {
  std::vector<pollfd> entries;
  for (const auto& ending : endings) {
    if (!ending.left.empty()) {
      entries.push_back({ending.fd, POLLOUT, 0});
    }
  }
  ::poll(entries.data(), entries.size(),
         poll_timeout(std::min(until, Clock::now() + look_interval)));
}

}  // namespace

void send_endings(std::vector<CubeEnding> endings, Time until) {
  for (;;) {
    std::erase_if(endings, advance);
    if (endings.empty() || Clock::now() >= until) {
      return;
    }
    await_room(endings, until);
  }
}

}  // namespace tributary::host
