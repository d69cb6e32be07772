// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>

#include <sodium/core.h>
#include <sodium/randombytes.h>

#include "host/rendezvous_table.h"
#include "host/tcp.h"

namespace tributary::host {
namespace {

constexpr std::size_t visitors_max = 70'000;  // more than there can be ranks

// A connection to rank 0, until its hello is whole and after.
struct Visitor {
  FileDescriptor fd;
  RendezvousHello hello;
  std::size_t received = 0;
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
  void accept_visitors();
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
    std::erase_if(visitors_, [](const Visitor& visitor) { return visitor.gone; });
    accept_visitors();
  }
  return agree(until);
}

bool Host::wait(Time until) {
  polled_.clear();
  polled_.push_back({listener_.fd.get(), POLLIN, 0});
  for (const auto& visitor : visitors_) {
    polled_.push_back({visitor.fd.get(), POLLIN, 0});
  }
  ::poll(polled_.data(), polled_.size(), poll_timeout(until));
  return Clock::now() < until;
}

void Host::accept_visitors() {
  while (visitors_.size() < visitors_max) {
    FileDescriptor fd(
        ::accept4(listener_.fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      return;
    }
    Visitor visitor;
    visitor.fd = std::move(fd);
    visitors_.push_back(std::move(visitor));
  }
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
  const auto bytes = table_.agreement(randombytes_random(), key);
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
  constexpr std::uint32_t bytes_max = 1 << 20;
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
