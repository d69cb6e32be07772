// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/liveness.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "host/transport/datagram_socket.h"

namespace tributary::host {

void watch_over(int fd) {
  constexpr int idle_s = 4;
  constexpr int interval_s = 2;
  constexpr int probes = 3;
  constexpr int unanswered_ms = 10'000;
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, unanswered_ms);
}

}  // namespace tributary::host
