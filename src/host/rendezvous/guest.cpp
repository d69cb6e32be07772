// SPDX-License-Identifier: BSD-3-Clause
#include "host/rendezvous/guest.h"

#include <algorithm>
#include <poll.h>
#include <span>

#include "host/membership/messages.h"
#include "host/object_bytes.h"
#include "host/rendezvous/table.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t message_bytes_max = 4 << 20;
constexpr std::size_t text_bytes_max = 4096;
constexpr auto patience = std::chrono::seconds(1);  // for what has begun to come
// Rank 0 speaks first. Of a connection that its listener closed unaccepted this side may never
// hear: one reset is sent, and it can be lost.
constexpr auto welcome_patience = std::chrono::seconds(5);

tl::unexpected<Error> refused(std::string why) {
  return fail(Error::Code::rendezvous, std::move(why));
}

}  // namespace

Result<std::unique_ptr<RendezvousGuest>> RendezvousGuest::visit(const Endpoint& place,
                                                                const RendezvousHello& mine,
                                                                const Secret& secret,
                                                                const Deadline& until) {
  auto connection = connect_until(place, {}, until.due(), heeding(until));
  if (!connection) {
    return refused("rank 0 does not listen at the rendezvous: " + connection.error().message);
  }
  std::unique_ptr<RendezvousGuest> guest(
      new RendezvousGuest(place, secret, std::move(*connection)));
  auto answer = guest->greet(mine, until).and_then([&] {
    return guest->hear(RendezvousStep::agreement, until);
  });
  const bool is_late = !answer && answer.error().code == Error::Code::timeout;
  if (is_late && until.passed(Clock::now())) {
    return refused("rank 0 at " + to_string(place) + " did not answer in time; not all ranks came");
  }
  if (is_late || (!answer && answer.error().code == Error::Code::network)) {
    return nullptr;  // its listener was an earlier one, just closing
  }
  auto meeting = answer.and_then(
      [&](const std::vector<std::byte>& body) { return parse_agreement(body, mine); });
  if (!meeting) {
    return tl::make_unexpected(meeting.error());
  }
  guest->meeting_ = std::move(*meeting);
  guest->meeting_.job.key = secret.job_key(guest->meeting_.job.key);
  return guest;
}

Result<void> RendezvousGuest::greet(const RendezvousHello& mine, const Deadline& until) {
  RendezvousWelcome welcome;
  const auto latest = std::min(until.due(), Clock::now() + welcome_patience);
  if (auto heard = receive_all(fd_.get(), writable_bytes_of(welcome), latest, heeding(until));
      !heard) {
    return heard;
  }
  if (welcome.magic.value() == membership_magic) {
    return refused(to_string(place_) +
                   " is a keeper of memberships; set TRIBUTARY_MEMBERSHIP=elastic on all ranks");
  }
  if (welcome.magic.value() != rendezvous_magic) {
    return refused(to_string(place_) + " is not a Tributary rendezvous");
  }
  session_.host = welcome.nonce;
  session_.guest = draw_nonce();
  RendezvousGreeting greeting;
  greeting.hello = mine;
  greeting.nonce = session_.guest;
  greeting.proof = secret_.prove(RendezvousStep::greeting, session_, bytes_of(mine));
  auto sent = send_all(fd_.get(), bytes_of(greeting), until.due(), heeding(until));
  if (const auto theirs = welcome.version.value(); theirs != rendezvous_version) {
    // It was told all the same, so that rank 0 does not wait for who ends here.
    return refused("rank 0 speaks version " + std::to_string(theirs) +
                   " of the rendezvous, this rank version " + std::to_string(rendezvous_version) +
                   install_the_same);
  }
  return sent;
}

// Returns what follows the reply; if the reply says that something failed, that is the error's
// text.
Result<std::vector<std::byte>> RendezvousGuest::hear(RendezvousStep step, const Deadline& until) {
  const auto wait = heeding(until);
  RendezvousReply reply;
  RendezvousProof proof;
  if (auto heard = receive_all(fd_.get(), writable_bytes_of(reply), until.due(), wait); !heard) {
    return tl::make_unexpected(heard.error());
  }
  if (reply.magic.value() != rendezvous_magic || reply.bytes.value() > message_bytes_max) {
    return refused(to_string(place_) + " is not a Tributary rendezvous");
  }
  std::vector<std::byte> body(reply.bytes.value());
  const auto heard = receive_all(fd_.get(), body, until.due(), wait).and_then([&] {
    return receive_all(fd_.get(), writable_bytes_of(proof), until.due(), wait);
  });
  if (!heard) {
    return refused("answer of rank 0: " + heard.error().message);
  }
  if (!secret_.believes(proof, step, session_, bytes_of(reply), body)) {
    return refused("rank 0 at " + to_string(place_) +
                   " does not know the secret of this rank; give all ranks the same "
                   "TRIBUTARY_SECRET");
  }
  if (reply.failed.value() != 0) {
    return refused(std::string(reinterpret_cast<const char*>(body.data()), body.size()));
  }
  return body;
}

Result<bool> RendezvousGuest::wait(int fd, short events, Time until) {
  for (;;) {
    pollfd polled[2] = {{fd, events, 0}, {fd_.get(), POLLIN, 0}};
    ::poll(polled, 2, poll_timeout(until));
    if (polled[1].revents != 0) {
      const auto heard = hear_conclusion(std::min(until, Clock::now() + patience));
      return tl::make_unexpected(
          heard ? Error{Error::Code::rendezvous, "rank 0 does not wait for this rank"}
                : heard.error());
    }
    if (polled[0].revents != 0 || Clock::now() >= until) {
      return polled[0].revents != 0;
    }
  }
}

Result<void> RendezvousGuest::conclude(const Result<void>& mine, const Deadline& until) {
  if (concluded_) {
    return mine;
  }
  RendezvousReply reply;
  const auto text = mine ? std::string() : mine.error().message.substr(0, text_bytes_max);
  const auto body = std::as_bytes(std::span(text));
  reply.failed = mine ? 0 : 1;
  reply.bytes = static_cast<std::uint32_t>(body.size());
  const auto proof = secret_.prove(RendezvousStep::outcome, session_, bytes_of(reply), body);
  // If rank 0 has ended, what it said last tells why.
  for (const auto part : {bytes_of(reply), body, bytes_of(proof)}) {
    (void)send_all(fd_.get(), part, until.due());
  }
  return mine ? hear_conclusion(until) : mine;
}

Result<void> RendezvousGuest::hear_conclusion(const Deadline& until) {
  concluded_ = true;
  const auto heard = hear(RendezvousStep::conclusion, until);
  if (heard || heard.error().code == Error::Code::rendezvous) {
    return heard.map([](const auto&) {});
  }
  return refused(heard.error().code == Error::Code::timeout
                     ? "rank 0 did not say by the deadline that all ranks are ready"
                     : "rank 0 has ended; its own error says why");
}

}  // namespace tributary::host
