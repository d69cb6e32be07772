// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/member.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include <sodium/core.h>

#include "host/membership/liveness.h"
#include "host/object_bytes.h"
#include "host/thread.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

constexpr auto patience_to_send = std::chrono::seconds(5);
constexpr auto pause_before_return = std::chrono::milliseconds(20);

Result<RendezvousSession> greet(int fd, const Endpoint& place, const MemberHello& hello,
                                const Secret& secret, Time until) {
  RendezvousWelcome welcome;
  if (auto heard = receive_all(fd, writable_bytes_of(welcome), until); !heard) {
    return tl::make_unexpected(heard.error());
  }
  if (welcome.magic.value() != membership_magic) {
    return fail(Error::Code::rendezvous,
                to_string(place) +
                    " is no keeper of memberships; start tributary-keeper there, or "
                    "set TRIBUTARY_MEMBERSHIP=fixed on all ranks");
  }
  if (welcome.version.value() != membership_version) {
    return fail(Error::Code::rendezvous,
                "the keeper at " + to_string(place) + " has another version" + install_the_same);
  }
  const RendezvousSession session{welcome.nonce, draw_nonce()};
  return send_all(fd, bytes_of(greeting_of(hello, session, secret)), until).map([&] {
    return session;
  });
}

struct Greeted {
  FileDescriptor fd;
  RendezvousSession session;
};

// Makes one attempt; fails with a network error if the keeper closed the connection.
Result<Greeted> visit(const Endpoint& place, const MemberHello& hello, const Secret& secret,
                      Time until) {
  auto fd = connect_until(place, {}, until);
  if (!fd) {
    return fail(Error::Code::rendezvous, "no keeper of memberships listens at " + to_string(place) +
                                             " (tributary-keeper): " + fd.error().message);
  }
  watch_over(fd->get());
  return greet(fd->get(), place, hello, secret, until).map([&](const RendezvousSession& session) {
    return Greeted{std::move(*fd), session};
  });
}

}  // namespace

Result<std::shared_ptr<Member>> Member::come(const Endpoint& place, const MemberHello& hello,
                                             const Secret& secret, Time until) {
  auto greeted = visit(place, hello, secret, until);
  // Among many strangers it may have been taken for one of them, or the keeper was just ending.
  while (!greeted && greeted.error().code == Error::Code::network &&
         Clock::now() + pause_before_return < until) {
    std::this_thread::sleep_for(pause_before_return);
    greeted = visit(place, hello, secret, until);
  }
  if (!greeted) {
    return fail(Error::Code::rendezvous, greeted.error().message);
  }
  std::shared_ptr<Member> member(
      new Member(place, std::move(greeted->fd),
                 WordStream(secret, greeted->session, WordStream::End::member)));
  auto thread = start_thread([it = member.get()] { it->listen(); });
  if (!thread) {
    return tl::make_unexpected(thread.error());
  }
  member->thread_ = std::move(*thread);
  return member;
}

Member::~Member() {
  ::shutdown(fd_.get(), SHUT_RDWR);
  if (thread_.joinable()) {
    thread_.join();
  }
}

void Member::listen() {
  std::array<std::byte, 65536> bytes;
  for (;;) {
    (void)wait_for(fd_.get(), POLLIN, never);
    const auto length = ::recv(fd_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
      continue;
    }
    const bool goes_on =
        length > 0 && take_in(wire::Bytes(bytes).first(static_cast<std::size_t>(length)));
    if (!goes_on) {
      return lose("the connection with the keeper of memberships at " + to_string(place_) +
                  " has ended; see what it said, and start it anew with all ranks");
    }
  }
}

bool Member::take_in(wire::Bytes bytes) {
  stream_.feed(bytes);
  for (;;) {
    const auto word = stream_.next();
    if (!word) {
      lose("the keeper at " + to_string(place_) + ": " + word.error().message);
      return false;
    }
    if (!*word) {
      return true;
    }
    if (!take_in(**word)) {
      return false;
    }
  }
}

// Returns false after the last word.
bool Member::take_in(const Word& word) {
  const std::lock_guard lock(mutex_);
  const bool was_over = known_.why_ended(watched_).has_value();
  const bool goes_on = known_.hear(word);
  changed_.notify_all();
  if (on_end_ && !was_over && known_.why_ended(watched_)) {
    on_end_();
  }
  return goes_on;
}

void Member::lose(const std::string& why) {
  const std::lock_guard lock(mutex_);
  known_.lose(why);
  changed_.notify_all();
}

template <typename Answer>
Answer Member::await(Time until, const std::string& late,
                     const std::function<std::optional<Answer>()>& answer) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (auto found = answer()) {
      return *std::move(found);
    }
    if (Clock::now() >= until) {
      return fail(Error::Code::timeout, late);
    }
    changed_.wait_until(lock, std::min(until, Clock::now() + std::chrono::hours(1)));
  }
}

Result<MembershipPlace> Member::place_after(std::uint64_t epoch, Time until) {
  return await<Result<MembershipPlace>>(until, "it was not agreed on in time",
                                        [&] { return known_.place_after(epoch); });
}

Result<void> Member::send(const Word& word) {
  const std::lock_guard lock(sending_);
  return send_all(fd_.get(), stream_.write(word), Clock::now() + patience_to_send);
}

// Where the connection is gone, the wait for what is asked for tells why.
Result<void> Member::ask(const RegroupWish& wish) {
  return send({WordKind::regroup, body_of(wish)});
}

Result<std::vector<std::byte>> Member::exchange(std::uint64_t epoch, wire::Bytes mine, Time until) {
  (void)send({WordKind::share, body_of(Epoch{wire::be64{epoch}}, mine)});
  return await<Result<std::vector<std::byte>>>(
      until, "not all members told each other where they are in time",
      [&] { return known_.take_shares(epoch); });
}

std::uint64_t Member::latest() const {
  const std::lock_guard lock(mutex_);
  return known_.latest();
}

std::uint32_t Member::waiting() const {
  const std::lock_guard lock(mutex_);
  return known_.waiting();
}

std::optional<std::string> Member::why_ended(std::uint64_t epoch) const {
  const std::lock_guard lock(mutex_);
  return known_.why_ended(epoch);
}

bool Member::is_dismissed() const {
  const std::lock_guard lock(mutex_);
  return known_.is_dismissed();
}

bool Member::await_end(std::uint64_t epoch, Time until) {
  return await<Result<void>>(until, "", [&] { return known_.end_of(epoch); }).has_value();
}

void Member::give_up() {
  const std::lock_guard lock(mutex_);
  known_.give_up();
  changed_.notify_all();
  if (on_end_) {
    on_end_();
  }
}

void Member::watch(std::uint64_t epoch, std::function<void()> on_end) {
  const std::lock_guard lock(mutex_);
  watched_ = epoch;
  on_end_ = std::move(on_end);
  if (on_end_ && (known_.is_given_up() || known_.why_ended(epoch))) {
    on_end_();
  }
}

}  // namespace tributary::host
