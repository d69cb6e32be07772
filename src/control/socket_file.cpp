// SPDX-License-Identifier: BSD-3-Clause
#include "control/socket_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>

#include "system/file_descriptor.h"

namespace tributary::control {
namespace {

using std::filesystem::file_type;

// What cannot be looked at has no type.
file_type type_of(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::status(path, error).type();
}

bool is_surely_no_directory(file_type type) {
  return type != file_type::directory && type != file_type::none && type != file_type::unknown;
}

// Says whether the process that listens has ended. The kernel keeps its socket for a while where it
// was killed: what its io_uring had begun holds it.
bool listener_has_ended(const FileDescriptor& connection) {
  ucred listener{};
  socklen_t size = sizeof(listener);
  if (getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &listener, &size) != 0 ||
      listener.pid <= 0) {
    return false;  // a listener of another pid namespace has no number here
  }
  // pidfd_open() is not called: what glibc 2.36 declares is not there for C++.
  const FileDescriptor process(static_cast<int>(syscall(SYS_pidfd_open, listener.pid, 0)));
  if (!process) {
    return errno == ESRCH;
  }
  pollfd ended{process.get(), POLLIN, 0};
  return poll(&ended, 1, 0) == 1;
}

}  // namespace

std::optional<std::string> missing_directory(const std::string& path) {
  const auto directory = std::filesystem::path(path).parent_path();
  const auto type = type_of(directory);
  if (directory.empty() || !is_surely_no_directory(type)) {
    return std::nullopt;
  }
  if (type != file_type::not_found) {
    return directory.string();
  }
  const auto above = directory.parent_path();
  return above.empty() || !is_surely_no_directory(type_of(above)) ? std::nullopt
                                                                  : std::optional(above.string());
}

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
  const FileDescriptor probe(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!address || !probe) {
    return SocketFile::unknown;
  }
  if (connect(probe.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0) {
    return listener_has_ended(probe) ? SocketFile::stale : SocketFile::served;
  }
  if (errno == EAGAIN || errno == EPROTOTYPE) {
    return SocketFile::served;
  }
  return errno == ECONNREFUSED ? SocketFile::stale : SocketFile::unknown;
}

}  // namespace tributary::control
