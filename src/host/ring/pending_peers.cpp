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

}  // namespace

Result<PendingPeers> PendingPeers::of(const Listener& listener) {
  FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll || !watch(epoll.get(), listener.fd.get())) {
    return fail(Error::Code::internal, errno_text("epoll"));
  }
  return PendingPeers(listener, std::move(epoll));
}

std::optional<FileDescriptor> PendingPeers::find(wire::Bytes expected) {
  accept();
  for (auto peer = peers_.begin(); peer != peers_.end();) {
    switch (read(*peer, expected)) {
      case Reading::goes_on:
        ++peer;
        break;
      case Reading::is_expected:
        return std::move(peer->fd);
      case Reading::is_useless:
        peer = peers_.erase(peer);
        break;
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

PendingPeers::Reading PendingPeers::read(Peer& peer, wire::Bytes expected) {
  const auto known = peer.heard.size();
  peer.heard.resize(expected.size());
  const auto length =
      ::recv(peer.fd.get(), peer.heard.data() + known, expected.size() - known, MSG_DONTWAIT);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    peer.heard.resize(known);
    return Reading::goes_on;
  }
  peer.heard.resize(known + static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  if (length <= 0 || !std::equal(peer.heard.begin(), peer.heard.end(), expected.begin())) {
    return Reading::is_useless;
  }
  return peer.heard.size() == expected.size() ? Reading::is_expected : Reading::goes_on;
}

}  // namespace tributary::host
