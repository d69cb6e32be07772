// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/peer_watch.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include "host/thread.h"
#include "host/transport/address.h"
#include "host/transport/silence.h"

namespace tributary::host {
namespace {

constexpr std::chrono::milliseconds look_interval{1000};

// Several questions fit into the silence.
std::chrono::seconds asking_interval(Duration silence_max) {
  constexpr int questions = 10;
  constexpr std::chrono::seconds longest{60};
  const auto interval = std::chrono::duration_cast<std::chrono::seconds>(silence_max / questions);
  return std::clamp(interval, std::chrono::seconds(1), longest);
}

}  // namespace

Result<std::unique_ptr<PeerWatch>> PeerWatch::over(std::vector<int> connections,
                                                   Duration silence_max) {
  std::unique_ptr<PeerWatch> watch(new PeerWatch(std::move(connections), silence_max));
  watch->bell_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC));
  if (!watch->bell_) {
    return fail(Error::Code::internal, errno_text("eventfd"));
  }
  for (const int fd : watch->connections_) {
    keep_asking(fd, asking_interval(silence_max));
  }
  auto thread = start_thread([watch = watch.get()] { watch->run(); });
  if (!thread) {
    return tl::make_unexpected(thread.error());
  }
  watch->thread_ = std::move(*thread);
  return watch;
}

PeerWatch::~PeerWatch() {
  if (thread_.joinable()) {
    const std::uint64_t once = 1;
    (void)!::write(bell_.get(), &once, sizeof once);  // cannot fail
    thread_.join();
  }
}

// What others send is not listened to here: only that they send no more.
void PeerWatch::run() {
  std::vector<pollfd> entries{{bell_.get(), POLLIN, 0}};
  for (const int fd : connections_) {
    entries.push_back({fd, POLLRDHUP, 0});
  }
  const auto is_silent = [this](int fd) { return silence_of(fd) >= silence_max_; };
  while (!is_one_gone_) {
    ::poll(entries.data(), entries.size(), static_cast<int>(look_interval.count()));
    if (entries.front().revents != 0) {
      return;
    }
    is_one_gone_ = std::any_of(entries.begin() + 1, entries.end(),
                               [](const pollfd& entry) { return entry.revents != 0; }) ||
                   std::ranges::any_of(connections_, is_silent);
  }
}

}  // namespace tributary::host
