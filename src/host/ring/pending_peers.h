// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// Connections to a rank whose other ends have not said all of their greeting. The true peer's
// greeting comes as soon as it is connected; but what is lost on the way is sent again after
// seconds, and the peer does not connect twice. So nobody is turned away for being slow, as long as
// there is room: a stranger may be silent for ever.
class PendingPeers {
 public:
  static constexpr std::size_t count_max = 64;

  // The listener outlives it.
  static Result<PendingPeers> of(const Listener& listener);

  // Becomes readable when there is something to do.
  int descriptor() const { return epoll_.get(); }
  // A connection that has said all of what is expected, and which of the texts that is.
  struct Found {
    std::size_t which;
    FileDescriptor fd;
  };
  // Takes connections, and reads what they have said; returns one that has said just what is
  // expected. All texts that are expected are as long. Whoever says anything else is turned away.
  std::optional<Found> find(std::span<const wire::Bytes> expected);

 private:
  struct Peer {
    FileDescriptor fd;
    std::vector<std::byte> heard;
  };
  enum class Reading { goes_on, is_complete, is_useless };

  PendingPeers(const Listener& listener, FileDescriptor epoll)
      : listener_(&listener), epoll_(std::move(epoll)) {}
  void accept();
  static Reading read(Peer& peer, std::span<const wire::Bytes> expected);

  const Listener* listener_;
  FileDescriptor epoll_;
  std::vector<Peer> peers_;  // the first has waited longest
};

}  // namespace tributary::host
