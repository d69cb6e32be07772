// SPDX-License-Identifier: BSD-3-Clause
#include "control/listener.h"

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/socket_file.h"

namespace tributary::control {
namespace {

constexpr int backlog = 16;

tl::unexpected<std::string> system_error(const std::string& what) {
  return tl::unexpected(what + ": " + std::strerror(errno));
}

sockaddr* generic(sockaddr_un& address) {
  return reinterpret_cast<sockaddr*>(&address);  // sockets(7) takes every address family so
}

tl::expected<void, std::string> make_parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) {
    return {};
  }
  const std::string parent = path.substr(0, slash);
  if (mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) {
    return system_error("cannot make directory " + parent + " for the control socket");
  }
  return {};
}

// Removes what a dead daemon left behind.
tl::expected<void, std::string> clear_the_way(const std::string& path) {
  switch (look_at_socket(path, SOCK_STREAM)) {
    case SocketFile::none:
      return {};
    case SocketFile::stale:
      unlink(path.c_str());
      return {};
    case SocketFile::other:
      return tl::unexpected(path + " exists and is no socket; remove it, or choose another with " +
                            "`control` in [daemon]");
    case SocketFile::served:
      return tl::unexpected("another daemon serves " + path +
                            "; stop it (tributaryctl shutdown), or choose another socket with " +
                            "`control` in [daemon]");
    case SocketFile::unknown:
      break;
  }
  return system_error("cannot tell who serves " + path);
}

tl::expected<void, std::string> give_to_group(const std::string& path, const std::string& group) {
  if (group.empty()) {
    return {};
  }
  const struct group* const entry = getgrnam(group.c_str());
  if (entry == nullptr) {
    return tl::unexpected("no group `" + group + "` on this host; make it (groupadd --system " +
                          group + ") or drop `control_group`");
  }
  if (chown(path.c_str(), static_cast<uid_t>(-1), entry->gr_gid) != 0) {
    return system_error("cannot give " + path + " to group " + group);
  }
  return {};
}

}  // namespace

tl::expected<Listener, std::string> Listener::create(const std::string& path,
                                                     const std::string& group) {
  auto address = unix_address(path);
  if (!address) {
    return tl::unexpected("path of the control socket is empty or longer than 107 bytes: " + path);
  }
  if (const auto made = make_parent(path); !made) {
    return tl::unexpected(made.error());
  }
  if (const auto clear = clear_the_way(path); !clear) {
    return tl::unexpected(clear.error());
  }
  FileDescriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) {
    return system_error("socket");
  }
  if (bind(fd.get(), generic(*address), sizeof(*address)) != 0) {
    return system_error("cannot make control socket " + path);
  }
  Listener listener(std::move(fd), path);
  struct stat info {};
  if (lstat(path.c_str(), &info) == 0) {
    listener.inode_ = info.st_ino;
  }
  // Nobody can connect before listen(), so that the mode is in force for the first client.
  if (const auto given = give_to_group(path, group); !given) {
    return tl::unexpected(given.error());
  }
  if (chmod(path.c_str(), 0660) != 0 || listen(listener.fd(), backlog) != 0) {
    return system_error("cannot serve " + path);
  }
  return listener;
}

Listener::~Listener() {
  struct stat info {};
  if (fd_ && lstat(path_.c_str(), &info) == 0 && S_ISSOCK(info.st_mode) && info.st_ino == inode_) {
    unlink(path_.c_str());
  }
}

}  // namespace tributary::control
