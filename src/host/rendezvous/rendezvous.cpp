// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/rendezvous.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <sodium/core.h>

#include "host/rendezvous/guest.h"
#include "host/rendezvous/host.h"

namespace tributary::host {
namespace {

using Met = Result<std::unique_ptr<Rendezvous>>;

Met meet_as_host(const Endpoint& place, const RendezvousHello& hello, const Secret& secret,
                 const Deadline& until, std::optional<Listener> given) {
  auto listener = given ? Result<Listener>(std::move(*given)) : listen_on(place);
  if (!listener) {
    return fail(Error::Code::rendezvous, "rendezvous: " + listener.error().message);
  }
  auto host = std::make_unique<RendezvousHost>(std::move(*listener), hello, secret);
  if (auto gathered = host->gather(until); !gathered) {
    return tl::make_unexpected(gathered.error());
  }
  return host;
}

Met meet_as_guest(const Endpoint& place, const RendezvousHello& hello, const Secret& secret,
                  const Deadline& until) {
  constexpr auto pause = std::chrono::milliseconds(20);
  while (!until.passed(Clock::now())) {
    auto guest = RendezvousGuest::visit(place, hello, secret, until);
    if (!guest || *guest != nullptr) {
      return guest;
    }
    std::this_thread::sleep_for(pause);
  }
  return fail(Error::Code::rendezvous, "rank 0 at " + to_string(place) +
                                           " gave no answer; the same Tributary has to be "
                                           "installed everywhere");
}

}  // namespace

Wait heeding(const Deadline& until, Wait wait) {
  return [until, wait = std::move(wait)](int fd, short events, Time latest) -> Result<bool> {
    for (;;) {
      if (until.is_given_up()) {
        return fail(Error::Code::rendezvous, meeting_given_up);
      }
      auto ready = wait(fd, events, std::min(latest, Clock::now() + Deadline::look_interval));
      if (!ready || *ready || Clock::now() >= latest) {
        return ready;
      }
    }
  };
}

Met meet(const Endpoint& place, const RendezvousHello& hello, std::string_view secret,
         const Deadline& until, std::optional<Listener> listener) {
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  const Secret shared(secret);
  return hello.rank.value() == 0 ? meet_as_host(place, hello, shared, until, std::move(listener))
                                 : meet_as_guest(place, hello, shared, until);
}

}  // namespace tributary::host
