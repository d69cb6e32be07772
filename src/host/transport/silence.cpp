// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/silence.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "host/transport/datagram_socket.h"

namespace tributary::host {
namespace {

constexpr unsigned repeats_min = 4;

}  // namespace

void keep_asking(int fd, std::chrono::seconds interval) {
  constexpr int probes_max = 127;
  const auto interval_s = static_cast<int>(interval.count());
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, probes_max);
}

std::chrono::milliseconds silence_of(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) {
    return {};
  }
  const unsigned repeats = info.tcpi_unacked == 0 ? info.tcpi_probes : info.tcpi_backoff;
  return std::chrono::milliseconds(repeats < repeats_min ? 0 : info.tcpi_last_ack_recv);
}

}  // namespace tributary::host
