// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/ring.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include "host/object_bytes.h"
#include "host/ring/chain.h"
#include "host/ring/doubling.h"
#include "host/ring/schedule.h"
#include "host/ring/sparse_schedule.h"
#include "host/text.h"
#include "host/transport/address.h"

namespace tributary::host {
namespace {

constexpr std::size_t burst_bytes = 262144;  // per system call
constexpr auto not_joined = " did not join this collective";

using Kind = RingAnnouncement::Kind;

// Says what came of a stream by the time when all of it should have.
template <typename Stream>
std::string shortfall(const Stream& stream, const std::string& who) {
  return who + " had sent " + std::to_string(stream.bytes_received()) + " of " +
         std::to_string(stream.bytes_expected()) + " bytes";
}
std::string shortfall(const SparseSchedule& schedule, const std::string& who) {
  return who + " had sent " + std::to_string(schedule.parts_received()) + " of " +
         std::to_string(schedule.parts_expected()) + " parts of the vector";
}
// An exchange begins with the announcement, so if nothing came the rank has not joined.
std::string shortfall(const Exchange& exchange, const std::string& who) {
  return exchange.bytes_received() == 0 ? who + not_joined : shortfall<Exchange>(exchange, who);
}

// Bare elements always are what they should be.
template <typename Stream>
Result<void> check(const Stream& /*stream*/, const RingPeer& /*from*/) {
  return {};
}
Result<void> check(const SparseSchedule& schedule, const RingPeer& from) {
  return schedule.is_sound()
             ? Result<void>()
             : fail(Error::Code::mismatch, rank_text(from.rank) +
                                               " sent what cannot be a part of this vector" +
                                               install_the_same);
}
Result<void> check(const Exchange& exchange, const RingPeer& from) {
  return exchange.check(rank_text(from.rank));
}

template <typename Stream>
Result<void> send_some(Stream& stream, const RingPeer& to, bool& moved) {
  const auto out = stream.sendable();
  if (out.empty()) {
    return {};
  }
  const auto n = ::send(to.fd.get(), out.data(), std::min(out.size(), burst_bytes),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) {
    stream.sent(static_cast<std::size_t>(n));
    moved = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    return tl::make_unexpected(lost(rank_text(to.rank), errno_text("send")));
  }
  return {};
}

template <typename Stream>
Result<void> receive_some(Stream& stream, const RingPeer& from, bool& moved) {
  const auto in = stream.receivable();
  if (in.empty()) {
    return {};
  }
  const auto n = ::recv(from.fd.get(), in.data(), std::min(in.size(), burst_bytes), MSG_DONTWAIT);
  if (n > 0) {
    stream.received(static_cast<std::size_t>(n));
    moved = true;
    return check(stream, from);
  }
  if (n == 0) {
    return tl::make_unexpected(lost(rank_text(from.rank), "closed there"));
  }
  if (errno != EAGAIN && errno != EINTR) {
    return tl::make_unexpected(lost(rank_text(from.rank), errno_text("receive")));
  }
  return {};
}

// Waking up for every segment would cost more than adding it.
void wake_at(RingPeer& from, std::size_t bytes) {
  if (from.wake_bytes != bytes) {
    const int value = static_cast<int>(bytes);
    ::setsockopt(from.fd.get(), SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
    from.wake_bytes = bytes;
  }
}

// Returns false if there is more to send, now or later, over a connection that was reset: poll(2)
// tells of that at once, whatever it is asked.
template <typename Stream>
bool await(Stream& stream, const RingPeer& to, RingPeer& from, Time until) {
  wake_at(from, stream.worthwhile());
  const bool sending = !stream.sendable().empty();
  const bool receiving = !stream.receivable().empty();
  pollfd entries[2] = {
      {stream.all_sent() ? -1 : to.fd.get(), static_cast<short>(sending ? POLLOUT : 0), 0},
      {from.fd.get(), static_cast<short>(receiving ? POLLIN : 0), 0}};
  ::poll(entries, 2, poll_timeout(until));
  return (entries[0].revents & (POLLERR | POLLHUP)) == 0;
}

// Returns what a rank has announced that nobody has listened to yet.
std::optional<RingAnnouncement> unheard(const RingPeer& from) {
  RingAnnouncement theirs;
  const auto bytes = writable_bytes_of(theirs).first(RingAnnouncement::common_bytes);
  const auto n = ::recv(from.fd.get(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  return n == static_cast<ssize_t>(bytes.size()) ? std::optional(theirs) : std::nullopt;
}

}  // namespace

Result<Ring> Ring::connect(const Meeting& meeting, Listener listener, Time until,
                           const Wait& wait) {
  return connect_ring(meeting, listener, until, wait).map([&](RingConnections made) {
    return Ring(meeting.job, std::move(made));
  });
}

std::vector<int> Ring::connections() const {
  std::vector<int> all{next_.fd.get(), previous_.fd.get()};
  for (const auto& partner : partners_) {
    all.push_back(partner.fd.get());
  }
  return all;
}

void Ring::shut_down() {
  for (const int fd : connections()) {
    ::shutdown(fd, SHUT_RDWR);
  }
}

Result<void> Ring::guard(std::string_view what, const Deadline& until, Result<void> result) {
  if (!result) {
    auto& error = result.error();
    if (found_beside_) {
      error = *found_beside_;
    } else if (error.code == Error::Code::timeout) {
      error.message = until.explain(what) + ": " + error.message + lateness;
    }
    broken_ = error.message;
  }
  return result;
}

// The wait also looks elsewhere than `here`, whenever it has lasted for long.
Wait Ring::wait_within(const Deadline& until, const RingPeer* here) {
  return [this, &until, here](int fd, short events, Time) -> Result<bool> {
    while (!wait_for(fd, events, until.next_look())) {
      if (until.passed(Clock::now())) {
        return false;
      }
      if (auto alike = look_elsewhere(here); !alike) {
        return tl::make_unexpected(alike.error());
      }
    }
    return true;
  };
}

// Ranks that disagree about how long a vector is may wait for each other on different connections.
// So this checks that what others than `here` have announced under this collective's number is the
// same.
Result<void> Ring::look_elsewhere(const RingPeer* here) {
  if (auto sound = beside_(); !sound) {
    found_beside_ = sound.error();
    return sound;
  }
  const auto look = [&](const RingPeer& peer) -> Result<void> {
    const auto theirs = &peer == here ? std::nullopt : unheard(peer);
    return theirs && theirs->sequence.value() == current_.sequence.value()
               ? agree(*theirs, current_, rank_text(peer.rank))
               : Result<void>();
  };
  auto alike = look(previous_);
  for (const auto& partner : partners_) {
    alike = alike.and_then([&] { return look(partner); });
  }
  return alike;
}

Result<void> Ring::announce(const Deadline& until) {
  const auto who = rank_text(next_.rank);
  return send_all(next_.fd.get(), current_.bytes(), until.due(), wait_within(until, nullptr))
      .map_error([&](const Error& error) {
        if (error.code == Error::Code::mismatch) {
          return error;
        }
        return error.code == Error::Code::timeout ? Error{error.code, who + " took nothing more"}
                                                  : lost(who, error.message);
      });
}

// Receives a part of the announcement of the previous rank.
Result<void> Ring::hear(wire::MutableBytes what, Deadline& until) {
  const auto who = rank_text(previous_.rank);
  auto heard = receive_all(previous_.fd.get(), what, until.due(), wait_within(until, &previous_));
  if (heard) {
    until.progress(Clock::now());
    return {};
  }
  switch (heard.error().code) {
    case Error::Code::mismatch:
      return heard;
    case Error::Code::timeout:
      return fail(Error::Code::timeout, who + not_joined);
    default:
      return tl::make_unexpected(lost(who, heard.error().message));
  }
}

Result<void> Ring::expect(Deadline& until) {
  RingAnnouncement theirs;
  const auto bytes = writable_bytes_of(theirs);
  const auto who = rank_text(previous_.rank);
  return hear(bytes.first(RingAnnouncement::common_bytes), until)
      .and_then([&] { return agree(theirs, current_, who); })
      .and_then([&]() -> Result<void> {
        return !current_.has_mark()
                   ? Result<void>()
                   : hear(bytes.subspan(RingAnnouncement::common_bytes), until).and_then([&] {
                       return agree_on_mark(theirs, current_, who);
                     });
      });
}

// What came may be too little to end a wait: only when nothing moved there was no progress.
template <typename Stream>
Result<void> Ring::pump(Stream& stream, RingPeer& to, RingPeer& from, Deadline& until) {
  for (;;) {
    bool moved = false;
    auto done =
        send_some(stream, to, moved).and_then([&] { return receive_some(stream, from, moved); });
    if (!done || stream.finished()) {
      wake_at(from, 1);
      return done;
    }
    const auto now = Clock::now();
    if (moved) {
      until.progress(now);
    }
    if (until.passed(now)) {
      return fail(Error::Code::timeout, shortfall(stream, rank_text(from.rank)));
    }
    if (!moved) {
      const auto look = until.next_look();
      if (!await(stream, to, from, look)) {
        return tl::make_unexpected(lost(rank_text(to.rank), "reset there"));
      }
      if (Clock::now() < look) {
        continue;
      }
      if (auto alike = look_elsewhere(&from); !alike) {
        return alike;
      }
    }
  }
}

Result<void> Ring::begin(const RingAnnouncement& mine, Deadline& until) {
  if (!broken_.empty()) {
    return fail(Error::Code::network, "the ring is broken since an earlier error: " + broken_);
  }
  current_ = mine;
  current_.sequence = sequence_++;
  until.begin(Clock::now());
  return {};
}

// Every rank announces a collective to the next one and expects the same from the previous one.
Result<void> Ring::join(Deadline& until) {
  return announce(until).and_then([&] { return expect(until); });
}

template <typename Stream>
Result<void> Ring::run(std::string_view what, const RingAnnouncement& mine, Stream& stream,
                       Deadline until) {
  return begin(mine, until).and_then([&] {
    return guard(what, until,
                 join(until).and_then([&] { return pump(stream, next_, previous_, until); }));
  });
}

Result<void> Ring::run_doubling(std::string_view what, const RingAnnouncement& mine,
                                const Buffers& buffers, Deadline until) {
  return begin(mine, until).and_then([&] { return guard(what, until, double_up(buffers, until)); });
}

Result<void> Ring::double_up(const Buffers& buffers, Deadline& until) {
  DoublingSchedule schedule(current_, buffers, grain_of(buffers));
  for (const auto& step : doubling_steps(rank_, world_size_)) {
    auto& peer = *std::ranges::find(partners_, step.peer, &RingPeer::rank);
    auto exchange = schedule.exchange(step);
    if (auto done = pump(exchange, peer, peer, until); !done) {
      return done;
    }
    schedule.complete(step, rank_);
  }
  schedule.finish();
  return {};
}

// A grain is as many elements as a packet has: what a handler combines does not depend on who
// carries it.
std::size_t Ring::grain_of(const Buffers& buffers) const {
  return wire::is_handler(buffers.op) ? payload_bytes_ / wire::element_bytes(buffers.type) : 1;
}

Result<void> Ring::allreduce(const Buffers& buffers, Deadline until) {
  const auto what = name(Collective::allreduce);
  const auto mine = RingAnnouncement::of(Kind::allreduce, buffers, 0);
  if (buffers.bytes() <= doubling_bytes_) {
    return run_doubling(what, mine, buffers, until);
  }
  RingSchedule schedule(buffers, rank_, world_size_, grain_of(buffers));
  return run(what, mine, schedule, until);
}

Result<void> Ring::reduce(const Buffers& buffers, std::uint32_t root, Deadline until) {
  RingChain chain(RingChain::Direction::to_root, buffers,
                  (rank_ + world_size_ - root) % world_size_, world_size_, grain_of(buffers));
  return run(name(Collective::reduce), RingAnnouncement::of(Kind::reduce, buffers, root), chain,
             until);
}

Result<void> Ring::broadcast(const Buffers& buffers, std::uint32_t root, Deadline until) {
  RingChain chain(RingChain::Direction::from_root, buffers,
                  (rank_ + world_size_ - root) % world_size_, world_size_);
  return run(name(Collective::broadcast), RingAnnouncement::of(Kind::broadcast, buffers, root),
             chain, until);
}

Result<SparseElements> Ring::sparse_allreduce(const SparseBuffers& buffers, Deadline until) {
  SparseSchedule schedule(buffers, rank_, world_size_);
  const Buffers alike{nullptr, nullptr, buffers.count, buffers.type, buffers.op};
  return run("sparse_allreduce", RingAnnouncement::of(Kind::sparse_allreduce, alike, 0), schedule,
             until)
      .map([&schedule] { return schedule.sum(); });
}

// Meets all ranks by a sum of nothing.
Result<void> Ring::meet(Kind kind, Deadline until) {
  const Buffers nothing;
  return run_doubling(name(Collective::barrier), RingAnnouncement::of(kind, nothing, 0), nothing,
                      until);
}

Result<void> Ring::barrier(Deadline until) {
  return meet(Kind::barrier, until);
}

Result<void> Ring::final_barrier(Deadline until) {
  return meet(Kind::final_barrier, until);
}

}  // namespace tributary::host
