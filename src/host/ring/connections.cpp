// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/connections.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "host/ring/doubling.h"
#include "host/ring/greeting.h"
#include "host/text.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t ring_magic = 0x54525247;      // "TRRG"
constexpr std::uint32_t doubling_magic = 0x54525244;  // "TRRD"
constexpr std::chrono::seconds reason_patience{1};

tl::unexpected<Error> explained(std::uint32_t rank, const char* what, const Error& error) {
  auto text = error.message;
  if (error.code == Error::Code::timeout) {
    text = rank_text(rank) + what + " by the deadline (" + text + ")" + lateness;
  } else if (error.code != Error::Code::rendezvous) {
    text = lost(rank_text(rank), text).message;
  }
  return fail(Error::Code::rendezvous, text);
}

Result<FileDescriptor> connect_to(std::uint32_t rank, std::uint32_t magic, const Meeting& meeting,
                                  Time until, const Wait& wait) {
  const auto& job = meeting.job;
  // Where nobody listens, somebody has ended.
  auto fd = connect_until(meeting.ring[rank], job.self().ip(), until, wait, WhenRefused::give_up);
  if (!fd) {
    // The reason why it has ended comes by way of the rendezvous, and may come later.
    const auto told = fd.error().code == Error::Code::network
                          ? wait(-1, 0, std::min(until, Clock::now() + reason_patience))
                          : Result<bool>(false);
    return told ? explained(rank, " took no connection of the ring", fd.error())
                : tl::make_unexpected(told.error());
  }
  const auto greeting = Greeting::of(magic, job, job.rank);
  if (auto sent = send_all(fd->get(), bytes_of(greeting), until); !sent) {
    return fail(Error::Code::rendezvous, lost(rank_text(rank), sent.error().message).message);
  }
  return std::move(*fd);
}

std::vector<RingPeer> partners_of(const Job& job) {
  std::vector<RingPeer> partners;
  for (const auto& step : doubling_steps(job.rank, job.world_size())) {
    if (std::ranges::find(partners, step.peer, &RingPeer::rank) == partners.end()) {
      partners.push_back({step.peer, {}});
    }
  }
  return partners;
}

}  // namespace

Error lost(const std::string& who, const std::string& why) {
  return {Error::Code::network, "the ring's connection with " + who + " broke (" + why +
                                    "): " + who +
                                    " has ended, and says why itself, or the network is down"};
}

Result<RingConnections> connect_ring(const Meeting& meeting, const Listener& listener, Time until,
                                     const Wait& wait) {
  const auto& job = meeting.job;
  const auto connect = [&](RingPeer& peer, std::uint32_t magic) -> Result<void> {
    return connect_to(peer.rank, magic, meeting, until, wait).map([&](FileDescriptor fd) {
      peer.fd = std::move(fd);
    });
  };
  RingConnections made;
  made.next.rank = (job.rank + 1) % job.world_size();
  made.previous.rank = (job.rank + job.world_size() - 1) % job.world_size();
  made.partners = partners_of(job);
  std::vector<Awaited> awaited = {
      {&made.previous.fd, Greeting::of(ring_magic, job, made.previous.rank)}};
  auto connected = connect(made.next, ring_magic);
  for (auto& partner : made.partners) {
    if (partner.rank < job.rank) {
      awaited.push_back({&partner.fd, Greeting::of(doubling_magic, job, partner.rank)});
    } else if (connected) {
      connected = connect(partner, doubling_magic);
    }
  }
  if (!connected) {
    return tl::make_unexpected(connected.error());
  }
  if (auto accepted = accept_all(awaited, listener, until, wait); !accepted) {
    return awaited.empty() ? tl::make_unexpected(accepted.error())
                           : explained(awaited.front().greeting.rank.value(),
                                       " did not connect to the ring", accepted.error());
  }
  return made;
}

}  // namespace tributary::host
