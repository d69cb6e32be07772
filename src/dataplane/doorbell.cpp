// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/doorbell.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tributary::dataplane {
namespace {

// A socket tells of an error until somebody takes it: a packet socket whose interface went down
// could be waited for no more.
void take_error(int socket) {
  int error = 0;
  socklen_t size = sizeof error;
  static_cast<void>(getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size));
}

}  // namespace

tl::expected<std::unique_ptr<Doorbell>, std::string> Doorbell::create() {
  const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) {
    return tl::unexpected(std::string("cannot make what wakes a packet core: ") +
                          std::strerror(errno));
  }
  return std::unique_ptr<Doorbell>(new Doorbell(descriptor));
}

Doorbell::~Doorbell() {
  close(descriptor_);
}

void Doorbell::wake() {
  if (expecting_.exchange(false)) {
    const std::uint64_t one = 1;
    static_cast<void>(write(descriptor_, &one, sizeof one));  // fails only where it rings already
  }
}

bool Doorbell::wait(std::vector<pollfd>& inputs, Duration longest) {
  const timespec limit = {0, static_cast<long>(longest.count())};
  inputs.push_back({descriptor_, POLLIN, 0});
  const int ready = ppoll(inputs.data(), inputs.size(), &limit, nullptr);  // a signal ends it early
  expecting_.store(false, std::memory_order_relaxed);
  const bool rang = ready > 0 && inputs.back().revents != 0;
  inputs.pop_back();
  if (rang) {
    std::uint64_t rings = 0;
    static_cast<void>(read(descriptor_, &rings, sizeof rings));
  }
  for (const auto& input : inputs) {
    if (ready > 0 && (input.revents & POLLERR) != 0) {
      take_error(input.fd);
    }
  }
  return ready > (rang ? 1 : 0);
}

}  // namespace tributary::dataplane
