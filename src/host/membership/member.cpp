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

// Nothing if the word is not of that form.
template <typename Head>
const Head* front_of(const Word& word) {
  return wire::Cursor(word.body).take<Head>();
}

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
  MemberGreeting greeting;
  greeting.hello = hello;
  greeting.nonce = session.guest;
  greeting.proof = secret.prove(RendezvousStep::member_greeting, session, bytes_of(hello));
  return send_all(fd, bytes_of(greeting), until).map([&] { return session; });
}

struct Greeted {
  FileDescriptor fd;
  RendezvousSession session;
};

// One attempt; an error of the network if the keeper closed the connection.
Result<Greeted> visit(const Endpoint& place, const MemberHello& hello, const Secret& secret,
                      Time until) {
  auto fd = connect_until(place, wire::Ipv4Address{}, until);
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
                      " has ended; see what it said, and start it anew with all ranks",
                  false);
    }
  }
}

bool Member::take_in(wire::Bytes bytes) {
  stream_.feed(bytes);
  for (;;) {
    const auto word = stream_.next();
    if (!word) {
      lose("the keeper at " + to_string(place_) + ": " + word.error().message, false);
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

// False after the last one.
bool Member::take_in(const Word& word) {
  if (word.kind == WordKind::dismissed) {
    lose(text_of(wire::Bytes(word.body)), true);
    return false;
  }
  const auto* const epoch = front_of<Epoch>(word);
  const auto* const place = front_of<MembershipPlace>(word);
  const auto* const count = front_of<WaitingCount>(word);
  if (word.kind == WordKind::waiting && count != nullptr) {
    waiting_ = count->count.value();
  } else if (word.kind == WordKind::ended && epoch != nullptr) {
    end(epoch->number.value(), text_of(wire::Bytes(word.body).subspan(sizeof *epoch)));
  } else if (word.kind == WordKind::place && place != nullptr) {
    if (place->world_size.value() > rendezvous_ranks_max ||
        place->rank.value() >= place->world_size.value()) {
      lose("the keeper at " + to_string(place_) + " told a rank that there cannot be", false);
      return false;
    }
    const std::lock_guard lock(mutex_);
    mine_ = *place;
    shares_.reset();
    ended_.reset();
    waiting_ = 0;
    changed_.notify_all();
  } else if (word.kind == WordKind::shares && epoch != nullptr) {
    const std::lock_guard lock(mutex_);
    shares_.emplace(word.body.begin() + sizeof *epoch, word.body.end());
    changed_.notify_all();
  }
  return true;
}

void Member::end(std::uint64_t epoch, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!mine_ || mine_->epoch.value() != epoch || ended_) {
    return;
  }
  ended_ = why;
  changed_.notify_all();
  if (on_end_ && watched_ == epoch) {
    on_end_();
  }
}

void Member::lose(const std::string& why, bool dismissed) {
  const std::lock_guard lock(mutex_);
  if (lost_) {
    return;
  }
  lost_ = why;
  dismissed_ = dismissed;
  changed_.notify_all();
  if (dismissed_ && on_end_) {
    on_end_();
  }
}

Result<void> Member::await(std::unique_lock<std::mutex>& lock, Time until, const std::string& late,
                           const std::function<bool()>& is_so) {
  while (!is_so() && !lost_ && !given_up_ && Clock::now() < until) {
    changed_.wait_until(lock, std::min(until, Clock::now() + std::chrono::hours(1)));
  }
  if (given_up_) {
    return fail(Error::Code::aborted, "the world's next membership was given up");
  }
  if (is_so()) {
    return {};
  }
  if (!lost_) {
    return fail(Error::Code::timeout, late);
  }
  return fail(dismissed_ && mine_ ? Error::Code::membership_ended : Error::Code::rendezvous,
              *lost_);
}

Result<MembershipPlace> Member::place_after(std::uint64_t epoch, Time until) {
  std::unique_lock lock(mutex_);
  return await(lock, until, "it was not agreed on in time",
               [&] { return mine_ && mine_->epoch.value() > epoch; })
      .map([&] { return *mine_; });
}

Result<void> Member::send(const Word& word) {
  const std::lock_guard lock(sending_);
  return send_all(fd_.get(), stream_.write(word), Clock::now() + patience_to_send);
}

// Where the connection is gone, waiting for what is asked for tells why.
Result<void> Member::ask(const RegroupWish& wish) {
  return send({WordKind::regroup, body_of(wish)});
}

Result<std::vector<std::byte>> Member::exchange(std::uint64_t epoch, wire::Bytes mine, Time until) {
  (void)send({WordKind::share, body_of(Epoch{wire::be64{epoch}}, mine)});
  std::unique_lock lock(mutex_);
  const auto done = await(lock, until, "not all members told each other where they are in time",
                          [&] { return shares_ || reason_of(epoch); });
  if (!done) {
    return tl::make_unexpected(done.error());
  }
  if (!shares_) {
    return fail(Error::Code::membership_ended, *reason_of(epoch));
  }
  return *std::exchange(shares_, std::nullopt);
}

std::optional<std::string> Member::reason_of(std::uint64_t epoch) const {
  if (!mine_ || mine_->epoch.value() < epoch) {
    return std::nullopt;
  }
  if (dismissed_) {
    return lost_;
  }
  if (mine_->epoch.value() > epoch) {
    return "the latest is membership " + std::to_string(mine_->epoch.value());
  }
  return ended_;
}

std::uint64_t Member::latest() const {
  const std::lock_guard lock(mutex_);
  return mine_ ? mine_->epoch.value() : 0;
}

std::optional<std::string> Member::why_ended(std::uint64_t epoch) const {
  const std::lock_guard lock(mutex_);
  return reason_of(epoch);
}

bool Member::is_dismissed() const {
  const std::lock_guard lock(mutex_);
  return dismissed_;
}

bool Member::await_end(std::uint64_t epoch, Time until) {
  std::unique_lock lock(mutex_);
  return await(lock, until, "", [&] { return reason_of(epoch).has_value(); }).has_value();
}

void Member::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  changed_.notify_all();
  if (on_end_) {
    on_end_();
  }
}

void Member::watch(std::uint64_t epoch, std::function<void()> on_end) {
  const std::lock_guard lock(mutex_);
  watched_ = epoch;
  on_end_ = std::move(on_end);
  if (on_end_ && (given_up_ || reason_of(epoch))) {
    on_end_();
  }
}

}  // namespace tributary::host
