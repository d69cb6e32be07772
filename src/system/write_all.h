// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <string_view>
#include <unistd.h>

namespace tributary {

// Waits where the file takes nothing for now. Returns what is left, mostly nothing: something is
// left when nobody can read it any more, or the file takes no more.
inline std::string_view write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      break;
    }
  }
  return bytes;
}

}  // namespace tributary
