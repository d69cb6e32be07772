// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/rendezvous.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "host/rendezvous/table.h"
#include "host/transport/tcp.h"

namespace tributary::host {
namespace {

// Ranks say who they are as soon as they are connected; those who do not are strangers.
constexpr std::size_t strangers_max = 256;
constexpr auto patience = std::chrono::seconds(2);
constexpr auto look_around = std::chrono::milliseconds(500);

// A connection to rank 0, until its hello is whole and after.
struct Visitor {
  FileDescriptor fd;
  RendezvousHello hello;
  std::size_t received = 0;
  Time since;
  bool registered = false;
  bool gone = false;
};

// Rank 0's side. Connections that do not speak this protocol are closed and forgotten.
class Host {
 public:
  Host(Listener listener, const RendezvousHello& mine)
      : listener_(std::move(listener)), mine_(mine), table_(mine) {}

  Result<Meeting> run(Time until);

 private:
  bool wait(Time until);
  bool accept_visitors();
  bool turn_away_a_stranger();
  void turn_away_the_silent();
  std::optional<std::string> listen_to(Visitor& visitor);
  void answer_all(const std::vector<std::byte>& bytes, Time until);
  Result<Meeting> refuse_all(const std::string& reason, Time until);
  Result<Meeting> agree(Time until);

  Listener listener_;
  RendezvousHello mine_;
  RendezvousTable table_;
  std::vector<Visitor> visitors_;
  std::vector<pollfd> polled_;
};

Result<Meeting> Host::run(Time until) {
  while (!table_.complete()) {
    if (!wait(until)) {
      return refuse_all("rank " + table_.missing() + " of " +
                            std::to_string(mine_.world_size.value()) + " did not come to " +
                            to_string(listener_.local) + " in time",
                        Clock::now() + std::chrono::milliseconds(200));
    }
    for (auto& visitor : visitors_) {
      if (const auto reason = listen_to(visitor)) {
        return refuse_all(*reason, until);
      }
    }
    turn_away_the_silent();
    if (!accept_visitors()) {
      return refuse_all("rank 0 is out of file descriptors; raise 'ulimit -n'", until);
    }
  }
  return agree(until);
}

bool Host::wait(Time until) {
  polled_.clear();
  polled_.push_back({listener_.fd.get(), POLLIN, 0});
  for (const auto& visitor : visitors_) {
    polled_.push_back({visitor.fd.get(), POLLIN, 0});
  }
  const auto wake_at = visitors_.empty() ? until : std::min(until, Clock::now() + look_around);
  ::poll(polled_.data(), polled_.size(), poll_timeout(wake_at));
  return Clock::now() < until;
}

// False if there are no descriptors left, not even those of strangers.
bool Host::accept_visitors() {
  constexpr int burst = 64;  // so that they are heard before many more come
  for (int i = 0; i < burst; ++i) {
    FileDescriptor fd(
        ::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      const bool exhausted = errno == EMFILE || errno == ENFILE;
      return !exhausted || turn_away_a_stranger();
    }
    Visitor visitor;
    visitor.fd = std::move(fd);
    visitor.since = Clock::now();
    visitors_.push_back(std::move(visitor));
    const auto strangers = std::count_if(visitors_.begin(), visitors_.end(),
                                         [](const Visitor& one) { return !one.registered; });
    if (static_cast<std::size_t>(strangers) > strangers_max) {
      turn_away_a_stranger();
    }
  }
  return true;
}

// The one that has been here longest. A rank that this befalls comes again.
bool Host::turn_away_a_stranger() {
  const auto found = std::find_if(visitors_.begin(), visitors_.end(),
                                  [](const Visitor& visitor) { return !visitor.registered; });
  if (found == visitors_.end()) {
    return false;
  }
  visitors_.erase(found);
  return true;
}

void Host::turn_away_the_silent() {
  const auto latest = Clock::now() - patience;
  std::erase_if(visitors_, [&](const Visitor& visitor) {
    return visitor.gone || (!visitor.registered && visitor.since < latest);
  });
}

std::optional<std::string> Host::listen_to(Visitor& visitor) {
  auto* const start = reinterpret_cast<std::byte*>(&visitor.hello);
  std::byte surplus{};
  const bool whole = visitor.received == sizeof visitor.hello;
  const auto length = whole ? ::recv(visitor.fd.get(), &surplus, 1, 0)
                            : ::recv(visitor.fd.get(), start + visitor.received,
                                     sizeof visitor.hello - visitor.received, 0);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::nullopt;
  }
  if (length <= 0 || whole) {
    visitor.gone = true;
    if (visitor.registered) {
      table_.remove(visitor.hello.rank.value());
    }
    return std::nullopt;
  }
  visitor.received += static_cast<std::size_t>(length);
  if (visitor.received < sizeof visitor.hello) {
    return std::nullopt;
  }
  if (visitor.hello.magic.value() != rendezvous_magic) {
    visitor.gone = true;
    return std::nullopt;
  }
  auto reason = table_.add(visitor.hello);
  visitor.registered = !reason;
  return reason;
}

void Host::answer_all(const std::vector<std::byte>& bytes, Time until) {
  for (const auto& visitor : visitors_) {
    if (visitor.received == sizeof visitor.hello) {
      // Who is gone by now finds out by the collective's deadline.
      (void)send_all(visitor.fd.get(), bytes, until);
    }
  }
}

Result<Meeting> Host::refuse_all(const std::string& reason, Time until) {
  answer_all(refusal(reason), until);
  return fail(Error::Code::rendezvous, reason);
}

Result<Meeting> Host::agree(Time until) {
  JobKey key{};
  randombytes_buf(key.data(), key.size());
  const auto chosen = mine_.job.value();
  // Drawn ones never are 0, which stands for none.
  const auto job =
      chosen != 0 ? chosen : 1 + randombytes_uniform(std::numeric_limits<std::uint32_t>::max());
  const auto bytes = table_.agreement(job, key);
  answer_all(bytes, until);
  return parse_agreement(wire::Bytes(bytes).subspan(sizeof(RendezvousReply)), mine_);
}

// One visit of another rank; no value: rank 0 was not ready, try again.
Result<std::optional<Meeting>> visit(const Endpoint& place, const RendezvousHello& mine,
                                     Time until) {
  auto connection = connect_until(place, wire::Ipv4Address{}, until);
  if (!connection) {
    return fail(Error::Code::rendezvous,
                "rank 0 does not listen at the rendezvous: " + connection.error().message);
  }
  const int fd = connection->get();
  RendezvousReply reply;
  auto done = send_all(fd, std::as_bytes(std::span(&mine, 1)), until).and_then([&] {
    return receive_all(fd, std::as_writable_bytes(std::span(&reply, 1)), until);
  });
  if (!done && done.error().code == Error::Code::timeout) {
    return fail(Error::Code::rendezvous,
                "rank 0 at " + to_string(place) + " did not answer in time; not all ranks came");
  }
  if (!done) {
    return std::nullopt;  // its listener was an earlier one, just closing
  }
  constexpr std::uint32_t bytes_max = 4 << 20;
  if (reply.magic.value() != rendezvous_magic || reply.bytes.value() > bytes_max) {
    return fail(Error::Code::rendezvous, to_string(place) + " is not a Tributary rendezvous");
  }
  std::vector<std::byte> body(reply.bytes.value());
  if (auto read = receive_all(fd, body, until); !read) {
    return fail(Error::Code::rendezvous, "answer of rank 0: " + read.error().message);
  }
  if (reply.failed.value() != 0) {
    return fail(Error::Code::rendezvous,
                std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  return parse_agreement(body, mine).map([](Meeting meeting) { return std::optional(meeting); });
}

}  // namespace

Result<Meeting> meet(const Endpoint& place, const RendezvousHello& hello, Time until) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  if (hello.rank.value() == 0) {
    auto listener = listen_on(place);
    if (!listener) {
      return fail(Error::Code::rendezvous, "rendezvous: " + listener.error().message);
    }
    return Host(std::move(*listener), hello).run(until);
  }
  constexpr auto pause = std::chrono::milliseconds(20);
  while (Clock::now() < until) {
    auto meeting = visit(place, hello, until);
    if (!meeting) {
      return tl::make_unexpected(meeting.error());
    }
    if (*meeting) {
      return std::move(**meeting);
    }
    std::this_thread::sleep_for(pause);
  }
  return fail(Error::Code::rendezvous, "rank 0 at " + to_string(place) + " gave no answer");
}

}  // namespace tributary::host
