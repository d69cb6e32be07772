// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/machine_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "host/object_bytes.h"
#include "host/text.h"
#include "host/transport/address.h"
#include "host/transport/tcp.h"
#include "system/abstract_address.h"

namespace tributary::host {
namespace {

constexpr auto retry_pause = std::chrono::milliseconds(5);
// A rank that waits looks so often whether others are busy.
constexpr auto glance = std::chrono::milliseconds(250);
// The pulses of different ranks do not share a cache line.
constexpr std::size_t pulse_stride = 64;

// There is a slab for each rank, one for results, and the pulses.
std::size_t memory_bytes(std::uint32_t ranks, std::size_t slab_bytes) {
  return (ranks + std::size_t{1}) * slab_bytes + ranks * pulse_stride;
}

struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
};

// Of what several ranks say, the last of these counts for everybody.
enum class BarrierOutcome : std::uint64_t { ok, failed, disagree, over };

// Abstract sockets have no permissions: whoever runs as somebody else is not a rank of this job.
bool is_stranger(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
         peer.uid != ::geteuid();
}

FileDescriptor new_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Puts every other rank's connection into its place. Afterwards nobody listens any more: a rank
// that has been here may be the first of the next group with this name.
Result<std::vector<FileDescriptor>> gather(const std::string& name, std::uint32_t size,
                                           Time until) {
  const AbstractAddress address(name);
  const Listener listener{new_socket(), {}};
  if (::bind(listener.fd.get(), address.get(), address.size()) != 0 ||
      ::listen(listener.fd.get(), static_cast<int>(size)) != 0) {
    return fail(Error::Code::rendezvous,
                errno_text("another group of ranks meets here under the name " + name));
  }
  std::vector<FileDescriptor> peers(size - 1);
  for (std::uint32_t come = 1; come < size;) {
    auto peer = accept_until(listener, until);
    if (peer && is_stranger(peer->get())) {
      continue;
    }
    Hello hello;
    auto heard = peer ? receive_all(peer->get(), writable_bytes_of(hello), until)
                      : Result<void>(tl::make_unexpected(peer.error()));
    if (!heard) {
      return fail(heard.error().code, std::to_string(come) + " of " + std::to_string(size) +
                                          " ranks of this machine came: " + heard.error().message);
    }
    if (hello.size != size || hello.rank == 0 || hello.rank >= size || peers[hello.rank - 1]) {
      return fail(Error::Code::rendezvous,
                  "local rank " + std::to_string(hello.rank) + " of " + std::to_string(hello.size) +
                      " came twice or does not belong here; LOCAL_RANK counts the processes of a "
                      "machine from 0, and LOCAL_WORLD_SIZE (here " +
                      std::to_string(size) + ") is the same for all of them");
    }
    peers[hello.rank - 1] = std::move(*peer);
    ++come;
  }
  return peers;
}

}  // namespace

// One rank tells this to the first, and the first to all.
struct MachineGroup::Message {
  std::uint64_t what = 0;
  BarrierOutcome outcome = BarrierOutcome::ok;
  std::uint32_t rank = 0;  // whose error follows, unless all is well
  Error::Code code = Error::Code::internal;
  std::array<char, 491> reason{};  // with a null behind it
};

Result<MachineGroup> MachineGroup::join(const Place& place, std::size_t slab_bytes, Time until) {
  return place.rank == 0 ? lead(place, slab_bytes, until) : follow(place, slab_bytes, until);
}

Result<MachineGroup> MachineGroup::lead(const Place& place, std::size_t slab_bytes, Time until) {
  auto peers = gather(place.name, place.size, until);
  if (!peers) {
    return tl::make_unexpected(peers.error());
  }
  auto memory = SharedMemory::create(memory_bytes(place.size, slab_bytes));
  if (!memory) {
    return tl::make_unexpected(memory.error());
  }
  for (const auto& peer : *peers) {
    if (auto sent = send_descriptor(peer.get(), memory->descriptor(), until); !sent) {
      return tl::make_unexpected(sent.error());
    }
  }
  return MachineGroup(place, slab_bytes, std::move(*memory), std::move(*peers));
}

Result<MachineGroup> MachineGroup::follow(const Place& place, std::size_t slab_bytes, Time until) {
  const AbstractAddress address(place.name);
  std::vector<FileDescriptor> peers;
  peers.push_back(new_socket());
  const int leader = peers.front().get();
  while (::connect(leader, address.get(), address.size()) != 0) {
    if (Clock::now() + retry_pause >= until) {
      return fail(Error::Code::timeout, "local rank 0 of this machine did not come");
    }
    std::this_thread::sleep_for(retry_pause);
  }
  if (is_stranger(leader)) {
    return fail(Error::Code::rendezvous,
                "somebody else listens where local rank 0 of this machine should (" + place.name +
                    "); choose another port for the rendezvous");
  }
  auto sent = send_all(leader, bytes_of(Hello{place.rank, place.size}), until);
  auto descriptor = sent ? receive_descriptor(leader, until)
                         : Result<FileDescriptor>(tl::make_unexpected(sent.error()));
  auto memory = descriptor.and_then([&](FileDescriptor& received) {
    return SharedMemory::map(std::move(received), memory_bytes(place.size, slab_bytes));
  });
  if (!memory) {
    return tl::make_unexpected(memory.error());
  }
  return MachineGroup(place, slab_bytes, std::move(*memory), std::move(peers));
}

std::uint64_t* MachineGroup::pulse_of(std::uint32_t rank) {
  return reinterpret_cast<std::uint64_t*>(slab(size() + 1) + rank * pulse_stride);
}

std::uint64_t MachineGroup::pulses() {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < size(); ++rank) {
    sum += std::atomic_ref(*pulse_of(rank)).load(std::memory_order_relaxed);
  }
  return sum;
}

Result<bool> MachineGroup::wait(int fd, short events, Deadline& until) {
  for (auto before = pulses(); !until.passed(Clock::now());) {
    if (wait_for(fd, events, std::min(until.due(), Clock::now() + glance))) {
      return true;
    }
    if (const auto now = pulses(); now != before) {
      before = now;
      until.progress(Clock::now());
    }
  }
  return false;
}

std::string MachineGroup::name_of(std::uint32_t rank) const {
  return place_.known_as.empty() ? "local rank " + std::to_string(rank)
                                 : rank_text(place_.known_as[rank]) + ", of this machine";
}

Error MachineGroup::about(std::uint32_t rank, const Error& error) const {
  return Error{error.code, name_of(rank) + ": " + error.message};
}

MachineGroup::Message MachineGroup::message_of(const Word& word) const {
  Message message{.what = word.what, .rank = rank()};
  if (word.failed != nullptr) {
    message.outcome = BarrierOutcome::failed;
    message.code = word.failed->code;
    word.failed->message.copy(message.reason.data(), message.reason.size() - 1);
  }
  return message;
}

void MachineGroup::shut_down() const {
  for (const auto& peer : peers_) {
    ::shutdown(peer.get(), SHUT_RDWR);
  }
}

// The others hear why, if they listen.
Result<void> MachineGroup::end(Error why) {
  auto last = message_of({0, &why});
  last.outcome = BarrierOutcome::over;
  for (const auto& peer : peers_) {
    (void)send_all(peer.get(), bytes_of(last), Time{});
  }
  shut_down();
  broken_ = why.message;
  return tl::make_unexpected(std::move(why));
}

Result<void> MachineGroup::barrier(const Word& word, Deadline until) {
  if (!broken_.empty()) {
    return fail(Error::Code::network,
                "the group of this machine has ended, make a new communicator: " + broken_);
  }
  until.progress(Clock::now());
  const auto met = meet(message_of(word), until);
  if (!met) {
    auto error = met.error();
    if (error.code == Error::Code::timeout) {
      error.message =
          until.explain("what the ranks of this machine do together") + ": " + error.message;
    }
    return end(std::move(error));
  }
  const auto theirs = [&] { return about(met->rank, Error{met->code, met->reason.data()}); };
  switch (met->outcome) {
    case BarrierOutcome::over:
      return end(theirs());
    case BarrierOutcome::disagree:
      return fail(Error::Code::mismatch,
                  "the ranks of this machine called different collectives: count, type and "
                  "operator are to be the same");
    case BarrierOutcome::failed:
      return word.failed != nullptr ? Result<void>() : tl::make_unexpected(theirs());
    case BarrierOutcome::ok:
      break;
  }
  return {};
}

Result<MachineGroup::Message> MachineGroup::meet(const Message& mine, Deadline& until) {
  if (rank() == 0) {
    return hear(mine, until).and_then([&](const Message& all) {
      return tell(all, until).map([&] { return all; });
    });
  }
  // A rank that has ended the group has said why before, and listens no more.
  const auto told = tell(mine, until);
  const auto heard = hear(mine, until);
  return told || heard ? heard : tl::make_unexpected(told.error());
}

Result<MachineGroup::Message> MachineGroup::hear(Message all, Deadline& until) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    Message heard;
    const auto patiently = [&](int fd, short events, Time) { return wait(fd, events, until); };
    auto got = receive_all(peers_[peer].get(), writable_bytes_of(heard), until.due(), patiently);
    if (!got) {
      return tl::make_unexpected(about(peer_rank(peer), got.error()));
    }
    heard.reason.back() = '\0';
    heard.rank = std::min(heard.rank, size() - 1);
    if (heard.outcome != BarrierOutcome::over && heard.what != all.what) {
      heard.outcome = BarrierOutcome::disagree;
    }
    if (heard.outcome > all.outcome) {
      heard.what = all.what;
      all = heard;
    }
  }
  return all;
}

Result<void> MachineGroup::tell(const Message& all, const Deadline& until) {
  for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
    if (auto sent = send_all(peers_[peer].get(), bytes_of(all), until.due()); !sent) {
      return tl::make_unexpected(about(peer_rank(peer), sent.error()));
    }
  }
  return {};
}

}  // namespace tributary::host
