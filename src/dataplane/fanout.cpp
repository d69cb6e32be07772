// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/fanout.h"

#include <cassert>
#include <dlfcn.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

namespace tributary::dataplane {
namespace {

// These bits of a group's argument are its number; the rest says how frames are dealt.
constexpr unsigned number_mask = 0xffff;
constexpr unsigned numbered_by_kernel = PACKET_FANOUT_FLAG_UNIQUEID << 16;
// The driver would have the kernel put fragments together, also where there is one socket. What
// they make is longer than a frame may be, and a switch passes fragments on as they are.
constexpr unsigned reassembles = PACKET_FANOUT_FLAG_DEFRAG << 16;

thread_local FanoutGroup* current = nullptr;

int libc_setsockopt(int socket, int level, int option, const void* value, socklen_t size) {
  using Setsockopt = int (*)(int, int, int, const void*, socklen_t);
  static const auto real = reinterpret_cast<Setsockopt>(dlsym(RTLD_NEXT, "setsockopt"));
  return real(socket, level, option, value, size);
}

}  // namespace

FanoutGroup::FanoutGroup() {
  assert(current == nullptr);
  current = this;
}

FanoutGroup::~FanoutGroup() {
  current = nullptr;
}

int FanoutGroup::join(int socket, unsigned asked) {
  unsigned group =
      (asked & ~(number_mask | reassembles)) | (number_ ? *number_ : numbered_by_kernel);
  if (libc_setsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, sizeof group) != 0) {
    return -1;
  }
  socklen_t size = sizeof group;
  if (getsockopt(socket, SOL_PACKET, PACKET_FANOUT, &group, &size) != 0) {
    return -1;
  }
  number_ = group & number_mask;
  return 0;
}

}  // namespace tributary::dataplane

// This function takes the place of libc's for this program and all of its libraries, as munmap()
// does in driver_memory.cpp: the driver has no argument for the number of its group.
extern "C" int setsockopt(int socket, int level, int option, const void* value,
                          socklen_t size) noexcept {
  using namespace tributary::dataplane;
  if (level == SOL_PACKET && option == PACKET_FANOUT && current != nullptr &&
      size == sizeof(unsigned)) {
    return current->join(socket, *static_cast<const unsigned*>(value));
  }
  return libc_setsockopt(socket, level, option, value, size);
}
