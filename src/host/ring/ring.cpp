// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/ring.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include "host/object_bytes.h"
#include "host/ring/chain.h"
#include "host/ring/pending_peers.h"
#include "host/ring/schedule.h"
#include "host/ring/sparse_schedule.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "reduce/handlers/mark.h"
#include "wire/endian.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t greeting_magic = 0x54525247;  // "TRRG"
constexpr std::size_t burst_bytes = 262144;           // per system call

// First on every connection, from a rank to the next one.
struct [[gnu::packed]] Greeting {
  wire::be32 magic{greeting_magic};
  wire::be32 job;
  wire::be32 rank;
  std::uint64_t tag = 0;

  static Greeting of(const Job& job, std::uint32_t rank) {
    Greeting greeting;
    greeting.job = job.id;
    greeting.rank = rank;
    greeting.tag = ring_tag(job.key, job.id, rank);
    return greeting;
  }
};
static_assert(sizeof(Greeting) == 20);

// After what a rank did not do in time.
constexpr auto lateness =
    ": it is late or has ended, or the network loses too much between the hosts; see what it says "
    "itself and 'tributaryctl drops' on the switches, or allow more time (TRIBUTARY_STALL_TIMEOUT, "
    "or TRIBUTARY_DEADLINE where that is set)";

enum class Kind : std::uint8_t {
  allreduce = 1,
  barrier = 2,
  reduce = 3,
  broadcast = 4,
  sparse_allreduce = 5,
};

Error lost(const std::string& who, const std::string& why) {
  return {Error::Code::network, "the ring's connection with " + who + " broke (" + why +
                                    "): " + who +
                                    " has ended, and says why itself, or the network is down"};
}

// Until when to wait at most, before looking whether somebody has brought the deadline forward.
Time next_look(const Deadline& until) {
  return std::min(until.due(), Clock::now() + Deadline::look_interval);
}

Wait wait_within(const Deadline& until) {
  return [&until](int fd, short events, Time) -> Result<bool> {
    while (!wait_for(fd, events, next_look(until))) {
      if (until.passed(Clock::now())) {
        return false;
      }
    }
    return true;
  };
}

// How much of a stream has come.
template <typename Stream>
std::string amount_received(const Stream& stream) {
  return std::to_string(stream.bytes_received()) + " of " +
         std::to_string(stream.bytes_expected()) + " bytes";
}
std::string amount_received(const SparseSchedule& schedule) {
  return std::to_string(schedule.parts_received()) + " of " +
         std::to_string(schedule.parts_expected()) + " parts of the vector";
}

// Bare elements always are what they should be.
template <typename Stream>
bool is_sound(const Stream& /*stream*/) {
  return true;
}
bool is_sound(const SparseSchedule& schedule) {
  return schedule.is_sound();
}

Result<FileDescriptor> accept_previous(const Listener& listener, const Greeting& expected,
                                       Time until, const Wait& wait) {
  auto pending = PendingPeers::of(listener);
  if (!pending) {
    return tl::make_unexpected(pending.error());
  }
  for (;;) {
    if (auto found = pending->find(bytes_of(expected))) {
      return std::move(*found);
    }
    const auto ready = wait(pending->descriptor(), POLLIN, until);
    if (!ready) {
      return tl::make_unexpected(ready.error());
    }
    if (!*ready || Clock::now() >= until) {
      return fail(Error::Code::timeout, "accept: the deadline passed");
    }
  }
}

}  // namespace

// Goes before the data of every collective, so that ranks that disagree find out.
struct [[gnu::packed]] Ring::Announcement {
  wire::be32 sequence;
  Kind kind = Kind::barrier;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint8_t reserved = 0;
  wire::be64 count;  // elements, or the round of a barrier
  wire::be32 root;
  // Of a handler that is to combine the elements; nobody sends it of other operators.
  wire::be64 mark;

  static constexpr std::size_t common_bytes = 20;
  bool has_mark() const { return kind != Kind::broadcast && wire::is_handler(op); }
  wire::Bytes bytes() const {
    static_assert(sizeof(Announcement) == common_bytes + sizeof mark);
    return bytes_of(*this).first(has_mark() ? sizeof *this : common_bytes);
  }

  static Announcement of(Kind kind, const Buffers& buffers, std::uint32_t root) {
    Announcement mine;
    mine.kind = kind;
    mine.type = buffers.type;
    mine.op = buffers.op;
    mine.count = buffers.count;
    mine.root = root;
    mine.mark = reduce::mark_of(buffers.op);
    return mine;
  }
};

Result<Ring> Ring::connect(const Meeting& meeting, Listener listener, Time until,
                           const Wait& wait) {
  const auto& job = meeting.job;
  const auto next_rank = (job.rank + 1) % job.world_size();
  const auto previous_rank = (job.rank + job.world_size() - 1) % job.world_size();
  const auto explained = [](std::uint32_t rank, const char* what, const Error& error) {
    auto text = error.message;
    if (error.code == Error::Code::timeout) {
      text = rank_text(rank) + what + " by the deadline (" + text + ")" + lateness;
    } else if (error.code != Error::Code::rendezvous) {
      text = lost(rank_text(rank), text).message;
    }
    return fail(Error::Code::rendezvous, text);
  };
  // Everybody has listened since before the meeting: where nobody does, somebody has ended.
  auto next =
      connect_until(meeting.ring[next_rank], job.self().address, until, wait, WhenRefused::give_up);
  if (!next) {
    return explained(next_rank, " took no connection of the ring", next.error());
  }
  if (auto sent = send_all(next->get(), bytes_of(Greeting::of(job, job.rank)), until); !sent) {
    return fail(Error::Code::rendezvous, lost(rank_text(next_rank), sent.error().message).message);
  }
  auto previous = accept_previous(listener, Greeting::of(job, previous_rank), until, wait);
  if (!previous) {
    return explained(previous_rank, " did not connect to the ring", previous.error());
  }
  return Ring(job, std::move(*next), std::move(*previous));
}

std::string Ring::next_name() const {
  return rank_text((rank_ + 1) % world_size_);
}

std::string Ring::previous_name() const {
  return rank_text((rank_ + world_size_ - 1) % world_size_);
}

void Ring::shut_down() {
  ::shutdown(next_.get(), SHUT_RDWR);
  ::shutdown(previous_.get(), SHUT_RDWR);
}

std::string Ring::broken_text() const {
  return "the ring is broken since an earlier error: " + broken_;
}

Result<void> Ring::guard(std::string_view what, const Deadline& until, Result<void> result) {
  if (!result) {
    auto& error = result.error();
    if (error.code == Error::Code::timeout) {
      error.message = until.explain(what) + ": " + error.message + lateness;
    }
    broken_ = error.message;
  }
  return result;
}

Result<void> Ring::announce(const Announcement& mine, const Deadline& until) {
  return send_all(next_.get(), mine.bytes(), until.due(), wait_within(until))
      .map_error([&](const Error& error) {
        return error.code == Error::Code::timeout
                   ? Error{error.code, next_name() + " took nothing more"}
                   : lost(next_name(), error.message);
      });
}

// Of the announcement of the previous rank.
Result<void> Ring::hear(wire::MutableBytes what, Deadline& until) {
  if (auto read = receive_all(previous_.get(), what, until.due(), wait_within(until)); !read) {
    return tl::make_unexpected(
        read.error().code == Error::Code::timeout
            ? Error{Error::Code::timeout, previous_name() + " did not join this collective"}
            : lost(previous_name(), read.error().message));
  }
  until.progress(Clock::now());
  return {};
}

Result<void> Ring::expect(const Announcement& mine, Deadline& until) {
  Announcement theirs;
  const auto bytes = writable_bytes_of(theirs);
  if (auto heard = hear(bytes.first(Announcement::common_bytes), until); !heard) {
    return heard;
  }
  if (std::memcmp(&theirs, &mine, Announcement::common_bytes) != 0) {
    return fail(Error::Code::mismatch,
                previous_name() + " is in another collective (its number " +
                    std::to_string(theirs.sequence.value()) + " with " +
                    std::to_string(theirs.count.value()) + " elements, here number " +
                    std::to_string(mine.sequence.value()) + " with " +
                    std::to_string(mine.count.value()) +
                    "), or type, operator or root differ; all ranks must call the same");
  }
  if (!mine.has_mark()) {
    return {};
  }
  return hear(bytes.subspan(Announcement::common_bytes), until).and_then([&]() -> Result<void> {
    if (theirs.mark.value() == mine.mark.value()) {
      return {};
    }
    return fail(Error::Code::mismatch, previous_name() + " has another handler under number " +
                                           std::to_string(wire::handler_number(mine.op)) +
                                           " than this rank; load the same one on all ranks");
  });
}

template <typename Stream>
Result<void> Ring::send_some(Stream& stream, bool& moved) {
  const auto out = stream.sendable();
  if (out.empty()) {
    return {};
  }
  const auto n = ::send(next_.get(), out.data(), std::min(out.size(), burst_bytes),
                        MSG_NOSIGNAL | MSG_DONTWAIT);
  if (n > 0) {
    stream.sent(static_cast<std::size_t>(n));
    moved = true;
  } else if (errno != EAGAIN && errno != EINTR) {
    return tl::make_unexpected(lost(next_name(), errno_text("send")));
  }
  return {};
}

template <typename Stream>
Result<void> Ring::receive_some(Stream& stream, bool& moved) {
  const auto in = stream.receivable();
  if (in.empty()) {
    return {};
  }
  const auto n = ::recv(previous_.get(), in.data(), std::min(in.size(), burst_bytes), MSG_DONTWAIT);
  if (n > 0) {
    stream.received(static_cast<std::size_t>(n));
    moved = true;
    if (!is_sound(stream)) {
      return fail(
          Error::Code::mismatch,
          previous_name() + " sent what cannot be a part of this vector" + install_the_same);
    }
  } else if (n == 0) {
    return tl::make_unexpected(lost(previous_name(), "closed there"));
  } else if (errno != EAGAIN && errno != EINTR) {
    return tl::make_unexpected(lost(previous_name(), errno_text("receive")));
  }
  return {};
}

// Waking up for every segment would cost more than adding it.
void Ring::wake_at(std::size_t bytes) {
  if (wake_bytes_ != bytes) {
    const int value = static_cast<int>(bytes);
    ::setsockopt(previous_.get(), SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value);
    wake_bytes_ = bytes;
  }
}

template <typename Stream>
void Ring::await(Stream& stream, Time until) {
  wake_at(stream.worthwhile());
  const bool sending = !stream.sendable().empty();
  const bool receiving = !stream.receivable().empty();
  pollfd entries[2] = {{next_.get(), static_cast<short>(sending ? POLLOUT : 0), 0},
                       {previous_.get(), static_cast<short>(receiving ? POLLIN : 0), 0}};
  ::poll(entries, 2, poll_timeout(until));
}

// What came may be too little to end a wait: only when nothing moved there was no progress.
template <typename Stream>
Result<void> Ring::pump(Stream& stream, Deadline& until) {
  for (;;) {
    bool moved = false;
    auto done = send_some(stream, moved).and_then([&] { return receive_some(stream, moved); });
    if (!done || stream.finished()) {
      wake_at(1);
      return done;
    }
    const auto now = Clock::now();
    if (moved) {
      until.progress(now);
    }
    if (until.passed(now)) {
      return fail(Error::Code::timeout, previous_name() + " had sent " + amount_received(stream));
    }
    if (!moved) {
      await(stream, next_look(until));
    }
  }
}

// Every rank announces a collective to the next one and expects the same from the previous one.
Result<void> Ring::join(Announcement mine, Deadline& until) {
  if (!broken_.empty()) {
    return fail(Error::Code::network, broken_text());
  }
  mine.sequence = sequence_++;
  return announce(mine, until).and_then([&] { return expect(mine, until); });
}

template <typename Stream>
Result<void> Ring::run(std::string_view what, const Announcement& mine, Stream& stream,
                       Deadline until) {
  until.begin(Clock::now());
  return guard(what, until, join(mine, until).and_then([&] { return pump(stream, until); }));
}

// As a packet has them: what a handler combines does not depend on who carries it.
std::size_t Ring::grain_of(const Buffers& buffers) const {
  return wire::is_handler(buffers.op) ? payload_bytes_ / wire::element_bytes(buffers.type) : 1;
}

Result<void> Ring::allreduce(const Buffers& buffers, Deadline until) {
  RingSchedule schedule(buffers, rank_, world_size_, grain_of(buffers));
  return run(name(Collective::allreduce), Announcement::of(Kind::allreduce, buffers, 0), schedule,
             until);
}

Result<void> Ring::reduce(const Buffers& buffers, std::uint32_t root, Deadline until) {
  RingChain chain(RingChain::Direction::to_root, buffers,
                  (rank_ + world_size_ - root) % world_size_, world_size_, grain_of(buffers));
  return run(name(Collective::reduce), Announcement::of(Kind::reduce, buffers, root), chain, until);
}

Result<void> Ring::broadcast(const Buffers& buffers, std::uint32_t root, Deadline until) {
  RingChain chain(RingChain::Direction::from_root, buffers,
                  (rank_ + world_size_ - root) % world_size_, world_size_);
  return run(name(Collective::broadcast), Announcement::of(Kind::broadcast, buffers, root), chain,
             until);
}

Result<SparseElements> Ring::sparse_allreduce(const SparseBuffers& buffers, Deadline until) {
  SparseSchedule schedule(buffers, rank_, world_size_);
  const Buffers alike{nullptr, nullptr, buffers.count, buffers.type, buffers.op};
  return run("sparse_allreduce", Announcement::of(Kind::sparse_allreduce, alike, 0), schedule,
             until)
      .map([&schedule] { return schedule.sum(); });
}

// A token goes round twice: once it is back at rank 0, all have come; the second time tells them.
Result<void> Ring::barrier(Deadline until) {
  if (!broken_.empty()) {
    return fail(Error::Code::network, broken_text());
  }
  ++sequence_;
  until.begin(Clock::now());
  return guard(name(Collective::barrier), until,
               pass_token(1, until).and_then([&] { return pass_token(2, until); }));
}

Result<void> Ring::pass_token(std::uint64_t round, Deadline& until) {
  Announcement token;
  token.sequence = sequence_;
  token.count = round;
  if (rank_ == 0) {
    return announce(token, until).and_then([&] { return expect(token, until); });
  }
  return expect(token, until).and_then([&] { return announce(token, until); });
}

}  // namespace tributary::host
