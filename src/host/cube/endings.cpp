// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/endings.h"

#include <algorithm>
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

// Tells whether the other kernel has got everything, or has reset the connection. Where a socket is
// closed before, with something unread, the kernel resets it, and what it had not sent is lost.
bool has_arrived(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state == TCP_FIN_WAIT2 || info.tcpi_state == TCP_TIME_WAIT ||
         info.tcpi_state == TCP_CLOSE;
}

// Returns whether nothing more is to be done for this one.
bool advance(CubeEnding& ending) {
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
