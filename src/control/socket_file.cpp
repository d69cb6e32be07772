// SPDX-License-Identifier: BSD-3-Clause
#include "control/socket_file.h"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tributary::control {

std::optional<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return std::nullopt;
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

SocketFile look_at_socket(const std::string& path, int type) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    return SocketFile::none;
  }
  if (!S_ISSOCK(info.st_mode)) {
    return SocketFile::other;
  }
  const auto address = unix_address(path);
  const int probe = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (!address || probe < 0) {
    return SocketFile::unknown;
  }
  const int result = connect(probe, reinterpret_cast<const sockaddr*>(&*address), sizeof(*address));
  const int error = errno;
  close(probe);
  errno = error;
  if (result == 0 || error == EAGAIN || error == EPROTOTYPE) {
    return SocketFile::served;
  }
  return error == ECONNREFUSED ? SocketFile::stale : SocketFile::unknown;
}

}  // namespace tributary::control
