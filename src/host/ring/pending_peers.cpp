// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/pending_peers.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

#include "host/transport/address.h"

namespace tributary::host {
namespace {

bool watch(int epoll, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  return ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

// Returns the first of them that begins with what was heard.
auto first_like(wire::Bytes heard, std::span<const wire::Bytes> expected) {
  return std::ranges::find_if(expected, [&](wire::Bytes one) {
    return std::ranges::equal(one.first(heard.size()), heard);
  });
}

}  // namespace

Result<PendingPeers> PendingPeers::of(const Listener& listener) {
  FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll || !watch(epoll.get(), listener.fd.get())) {
    return fail(Error::Code::internal, errno_text("epoll"));
  }
  return PendingPeers(listener, std::move(epoll));
}

std::optional<PendingPeers::Found> PendingPeers::find(std::span<const wire::Bytes> expected) {
  accept();
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    const auto reading = read(*peer, expected);
    if (reading == Reading::goes_on) {
      ++peer;
      continue;
    }
    auto said = std::move(*peer);
    peer = peers_.erase(peer);
    if (reading == Reading::is_complete) {
      return Found{static_cast<std::size_t>(first_like(said.heard, expected) - expected.begin()),
                   std::move(said.fd)};
    }
  }
  return std::nullopt;
}

void PendingPeers::accept() {
  for (std::size_t i = 0; i < count_max; ++i) {  // so that they are heard before many more come
    auto fd = accept_now(*listener_);
    const bool exhausted = !fd && (errno == EMFILE || errno == ENFILE);
    if (!fd && !exhausted) {
      return;
    }
    if (!peers_.empty() && (exhausted || peers_.size() == count_max)) {
      peers_.erase(peers_.begin());
    }
    if (fd && watch(epoll_.get(), fd.get())) {
      peers_.push_back({std::move(fd), {}});
    }
  }
}

PendingPeers::Reading PendingPeers::read(Peer& peer, std::span<const wire::Bytes> expected) {
  const auto whole = expected.front().size();
  const auto known = peer.heard.size();
  peer.heard.resize(whole);
  const auto length = ::recv(peer.fd.get(), peer.heard.data() + known, whole - known, MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    peer.heard.resize(known);
    return Reading::goes_on;
  }
  peer.heard.resize(known + static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  if (length <= 0 || first_like(peer.heard, expected) == expected.end()) {
    return Reading::is_useless;
  }
  return peer.heard.size() == whole ? Reading::is_complete : Reading::goes_on;
}

}  // namespace tributary::host
