// SPDX-License-Identifier: BSD-3-Clause
#include "relay.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <unistd.h>

#include "system/write_all.h"

namespace tributary::ctl {
namespace {

// Hands over what has come; returns false at the end.
bool pass(int from, int to) {
  std::array<char, 65536> chunk{};
  const ssize_t got = read(from, chunk.data(), chunk.size());
  if (got < 0) {
    return errno == EAGAIN || errno == EINTR;
  }
  return got > 0 && write_all(to, {chunk.data(), static_cast<std::size_t>(got)}).empty();
}

}  // namespace

ExitCode relay(const Options& options) {
  std::signal(SIGPIPE, SIG_IGN);  // a daemon that has gone is an answer, not our end
  const auto client = control::Client::connect(options.socket, options.timeout());
  if (!client) {
    // Standard output is the other side's connection.
    Options people = options;
    people.json = false;
    return report(people, client.error());
  }
  for (;;) {
    std::array<pollfd, 2> ends = {{{STDIN_FILENO, POLLIN, 0}, {client->fd(), POLLIN, 0}}};
    if (poll(ends.data(), ends.size(), -1) < 0 && errno != EINTR) {
      return ExitCode::failed;
    }
    if (ends[0].revents != 0 && !pass(STDIN_FILENO, client->fd())) {
      return ExitCode::ok;
    }
    if (ends[1].revents != 0 && !pass(client->fd(), STDOUT_FILENO)) {
      return ExitCode::failed;  // the daemon went
    }
  }
}

}  // namespace tributary::ctl
