// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/machine_group.h"

#include <algorithm>
#include <atomic>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "host/object_bytes.h"
#include "host/transport/address.h"
#include "host/transport/tcp.h"
#include "system/abstract_address.h"

namespace tributary::host {
namespace {

constexpr auto retry_pause = std::chrono::milliseconds(5);
// How often who waits looks whether others are busy.
constexpr auto glance = std::chrono::milliseconds(250);
// Those of different ranks do not share a cache line.
constexpr std::size_t pulse_stride = 64;

// A slab for each rank, one for results, and the pulses.
std::size_t memory_bytes(std::uint32_t ranks, std::size_t slab_bytes) {
  return (ranks + std::size_t{1}) * slab_bytes + ranks * pulse_stride;
}

struct Hello {
  std::uint32_t rank = 0;
  std::uint32_t size = 0;
};

// In the order of what it means for everybody.
enum class Verdict : std::uint64_t { ok, failed, disagree };

// Of one rank to the first, and of the first to all.
struct Message {
  std::uint64_t what = 0;
  Verdict verdict = Verdict::ok;
};

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

Error about(std::uint32_t rank, const Error& error) {
  return Error{error.code, "local rank " + std::to_string(rank) + ": " + error.message};
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
  return reinterpret_cast<std::uint64_t*>(slab(size_ + 1) + rank * pulse_stride);
}

std::uint64_t MachineGroup::pulses() {
  std::uint64_t sum = 0;
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
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

Result<void> MachineGroup::barrier(const Word& word, Deadline until) {
  if (!broken_.empty()) {
    return fail(Error::Code::network,
                "the group of this machine has ended, make a new communicator: " + broken_);
  }
  until.progress(Clock::now());
  auto met = meet(word, until);
  if (!met && met.error().code == Error::Code::timeout) {
    met.error().message =
        until.explain("what the ranks of this machine do together") + ": " + met.error().message;
  }
  if (!met && met.error().code != Error::Code::mismatch) {
    broken_ = met.error().message;
  }
  return met;
}

Result<void> MachineGroup::meet(const Word& word, Deadline& until) {
  Message all{word.what, word.ok ? Verdict::ok : Verdict::failed};
  const auto peer_rank = [this](std::size_t peer) {
    return rank_ == 0 ? static_cast<std::uint32_t>(peer + 1) : 0;
  };
  const auto tell = [&]() -> Result<void> {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      if (auto sent = send_all(peers_[peer].get(), bytes_of(all), until.due()); !sent) {
        return tl::make_unexpected(about(peer_rank(peer), sent.error()));
      }
    }
    return {};
  };
  const auto hear = [&]() -> Result<void> {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      Message heard;
      const auto patiently = [&](int fd, short events, Time) { return wait(fd, events, until); };
      auto got = receive_all(peers_[peer].get(), writable_bytes_of(heard), until.due(), patiently);
      if (!got) {
        return tl::make_unexpected(about(peer_rank(peer), got.error()));
      }
      all.verdict = std::max(
          {all.verdict, heard.verdict, heard.what == word.what ? Verdict::ok : Verdict::disagree});
    }
    return {};
  };
  if (auto met = rank_ == 0 ? hear().and_then(tell) : tell().and_then(hear); !met) {
    return met;
  }
  if (all.verdict == Verdict::disagree) {
    return fail(Error::Code::mismatch,
                "the ranks of this machine called different collectives: count, type and operator "
                "are to be the same");
  }
  if (all.verdict == Verdict::failed && word.ok) {
    return fail(Error::Code::mismatch,
                "another rank of this machine could not carry out its part; its error says why");
  }
  return {};
}

}  // namespace tributary::host
