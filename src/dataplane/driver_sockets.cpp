// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_sockets.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/un.h>

namespace tributary::dataplane {
namespace {

using Accept = int (*)(int, sockaddr*, socklen_t*);

bool is_memif_kind(int socket) {
  int type = 0;
  int domain = 0;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET &&
         getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX;
}

}  // namespace

int accept_without_waiting(int socket, sockaddr* address, socklen_t* size) {
  static const auto real = reinterpret_cast<Accept>(dlsym(RTLD_NEXT, "accept"));
  const int accepted = real(socket, address, size);
  if (accepted >= 0 && is_memif_kind(accepted)) {
    fcntl(accepted, F_SETFL, fcntl(accepted, F_GETFL) | O_NONBLOCK);
  }
  return accepted;
}

}  // namespace tributary::dataplane

// Takes the place of libc's for this program and all of its libraries, as munmap() does in
// driver_memory.cpp.
extern "C" int accept(int socket, sockaddr* address, socklen_t* size) {
  return tributary::dataplane::accept_without_waiting(socket, address, size);
}
