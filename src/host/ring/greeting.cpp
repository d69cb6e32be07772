// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/greeting.h"

#include <cstddef>
#include <poll.h>
#include <utility>

#include "host/ring/pending_peers.h"
#include "wire/cursor.h"

namespace tributary::host {

Result<void> accept_all(std::vector<Awaited>& awaited, const Listener& listener, Time until,
                        const Wait& wait) {
  auto pending = PendingPeers::of(listener);
  if (!pending) {
    return tl::make_unexpected(pending.error());
  }
  while (!awaited.empty()) {
    std::vector<wire::Bytes> expected;
    for (const auto& one : awaited) {
      expected.push_back(bytes_of(one.greeting));
    }
    if (auto found = pending->find(expected)) {
      const auto one = awaited.begin() + static_cast<std::ptrdiff_t>(found->which);
      *one->fd = std::move(found->fd);
      awaited.erase(one);
      continue;
    }
    const auto ready = wait(pending->descriptor(), POLLIN, until);
    if (!ready) {
      return tl::make_unexpected(ready.error());
    }
    if (!*ready || Clock::now() >= until) {
      return fail(Error::Code::timeout, "accept: the deadline passed");
    }
  }
  return {};
}

}  // namespace tributary::host
