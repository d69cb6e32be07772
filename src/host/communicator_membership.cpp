// SPDX-License-Identifier: BSD-3-Clause
// This part of a communicator is about elastic worlds: how one comes to be, ends, and is followed
// by the next.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <utility>

#include <sodium/core.h>

#include "host/communicator_state.h"
#include "host/membership/words.h"
#include "host/rendezvous/bootstrap.h"
#include "host/text.h"
#include "host/transport/address.h"

namespace tributary {
namespace {

using host::Clock;
using host::Member;
using host::MembershipPlace;
using host::Time;

// What the keeper says at the last moment may be on its way for so long.
constexpr auto keeper_grace = std::chrono::seconds(2);
// A collective that fails because somebody is gone may do so before the keeper has said it.
constexpr auto news_grace = std::chrono::seconds(1);
// So many memberships may fail in a row, as members are gone before they have met the others.
constexpr int attempts_max = 16;

constexpr auto aborted_text = "the communicator was aborted on this rank";

std::string membership_text(std::uint64_t epoch) {
  return "membership " + std::to_string(epoch);
}

Error missed(const CommunicatorOptions& options, const Error& error, Time since) {
  if (error.code != Error::Code::timeout) {
    return error;
  }
  const auto waited = host::seconds_text(Clock::now() - since);
  if (options.membership == Membership::join) {
    return {error.code, "nobody has taken in who waits at the keeper " + options.rendezvous +
                            " for " + waited +
                            ": members of its world do when they call regroup(); "
                            "TRIBUTARY_JOIN_TIMEOUT says how long to wait"};
  }
  return {error.code, "the next membership was not agreed on at the keeper " + options.rendezvous +
                          " for " + waited +
                          ": not all ranks came; what it says on its standard error tells who did"};
}

// A newcomer does not know the size of the world, so settings that depend on it are told as for a
// single rank.
host::MemberHello member_hello_of(const CommunicatorOptions& options) {
  auto of_any_world = options;
  of_any_world.world_size = 1;
  host::MemberHello hello;
  hello.joins = options.membership == Membership::join ? 1 : 0;
  hello.options = host::hello_of(of_any_world);
  hello.options.world_size = options.world_size;
  return hello;
}

host::RegroupWish wish_of(std::uint64_t epoch, std::uint32_t world_size, host::Duration patience) {
  using std::chrono::milliseconds;
  constexpr auto longest = milliseconds(std::chrono::hours(24));
  const auto time = std::min(std::chrono::ceil<milliseconds>(patience), longest);
  return {wire::be64{epoch}, wire::be32{world_size},
          wire::be32{static_cast<std::uint32_t>(time.count())}};
}

// For ever, with which the arithmetic of clocks would end.
constexpr std::chrono::hours join_timeout_max{24 * 365};

}  // namespace

Result<Communicator> Communicator::create_elastic(const CommunicatorOptions& options) {
  auto mine = options;
  if (options.membership == Membership::join) {
    mine.rank = 0;
    mine.world_size = 1;
  }
  if (auto checked = host::check(mine); !checked) {
    return tl::make_unexpected(checked.error());
  }
  if (mine.join_timeout <= std::chrono::nanoseconds::zero()) {
    return host::invalid("the time to join in must be positive");
  }
  mine.join_timeout = std::min<std::chrono::nanoseconds>(mine.join_timeout, join_timeout_max);
  if (::sodium_init() < 0) {
    return fail(Error::Code::internal, "libsodium has no source of randomness");
  }
  const auto place = host::resolve(mine.rendezvous);
  if (!place) {
    return tl::make_unexpected(place.error());
  }
  if (mine.local_address.empty()) {
    const auto local = host::local_address_towards(*place);
    if (!local) {
      return tl::make_unexpected(local.error());
    }
    mine.local_address = host::to_string(*local);
  }
  const auto patience =
      mine.membership == Membership::join ? mine.join_timeout : host::patience_of(mine);
  auto member = Member::come(*place, member_hello_of(mine), host::Secret(mine.secret),
                             Clock::now() + host::patience_of(mine));
  mine.world_size = 0;  // a next try goes on with the members that are left
  return member ? form(*member, mine, 0, patience) : tl::make_unexpected(member.error());
}

// Returns the communicator of the first membership after `after` that comes to be. If a member is
// gone before that, the next membership follows, which waits for as many ranks as the options say.
Result<Communicator> Communicator::form(const std::shared_ptr<Member>& member,
                                        const CommunicatorOptions& options, std::uint64_t after,
                                        std::chrono::nanoseconds patience) {
  Error error;
  for (int attempt = 0; attempt < attempts_max; ++attempt) {
    const auto began = Clock::now();
    const auto place = member->place_after(after, began + patience + keeper_grace);
    if (!place) {
      return tl::make_unexpected(missed(options, place.error(), began));
    }
    after = place->epoch.value();
    std::atomic<bool> ended = false;
    member->watch(after, [&ended] { ended = true; });
    auto made = meet(*member, options, *place, ended);
    member->watch(0, nullptr);
    if (made) {
      made->state_->adopt({member, *place, options});
      return made;
    }
    const auto why = ended ? member->why_ended(after) : std::nullopt;
    error = {made.error().code,
             membership_text(after) + " did not come to be: " + why.value_or(made.error().message)};
    if (!member->await_end(after, Clock::now() + news_grace)) {
      // Others that failed for the same reason still wait for news. If this member left now, they
      // would take that for the reason, and go on without it.
      (void)member->await_end(after, Clock::now() + 2 * news_grace);
      break;
    }
    patience = host::patience_of(options);
    (void)member->ask(wish_of(after, options.world_size, patience));
  }
  return tl::make_unexpected(error);
}

// Makes the communicator with the members that the keeper has named, as one of a fixed world.
Result<Communicator> Communicator::meet(Member& member, const CommunicatorOptions& options,
                                        const MembershipPlace& place,
                                        const std::atomic<bool>& given_up) {
  auto mine = options;
  mine.membership = Membership::fixed;
  mine.rank = place.rank.value();
  mine.world_size = place.world_size.value();
  const auto until = Clock::now() + host::patience_of(options);
  std::optional<Error> failed;
  const auto allgather = [&](const void* in, void* out, std::size_t bytes) {
    const wire::Bytes share(static_cast<const std::byte*>(in), bytes);
    const auto all = member.exchange(place.epoch.value(), share, until);
    if (!all || all->size() != bytes * mine.world_size) {
      failed = all ? Error{Error::Code::rendezvous, "the keeper told nonsense"} : all.error();
      return false;
    }
    std::copy(all->begin(), all->end(), static_cast<std::byte*>(out));
    return true;
  };
  auto made =
      host::Bootstrap::create(mine, mine.world_size, allgather, host::Sharing::none, &given_up);
  return failed ? tl::make_unexpected(*failed) : std::move(made);
}

Result<Communicator> Communicator::regroup(std::uint32_t world_size) {
  auto& elastic = state_->elastic;
  if (!elastic) {
    return host::invalid(
        "this communicator's world is fixed: create it with TRIBUTARY_MEMBERSHIP=elastic, and a "
        "keeper to meet at");
  }
  if (world_size > host::rendezvous_ranks_max) {
    return host::invalid("a world has at most " + std::to_string(host::rendezvous_ranks_max) +
                         " ranks, so do not wait for " + std::to_string(world_size));
  }
  return state_->regroup(world_size);
}

// Fails if abort() has been called, or is called before this is over.
Result<Communicator> Communicator::State::regroup(std::uint32_t world_size) {
  const auto begin = [this] {
    const std::lock_guard lock(closing);
    regrouping = !aborted_here;
    return regrouping;
  };
  const auto end = [this] {
    const std::lock_guard lock(closing);
    regrouping = false;
    return !aborted_here;
  };
  if (!begin()) {
    return fail(Error::Code::aborted, aborted_text);
  }
  auto next = find_next(world_size);
  return end() ? std::move(next) : fail(Error::Code::aborted, aborted_text);
}

Result<Communicator> Communicator::State::find_next(std::uint32_t world_size) {
  // An earlier call may have been told of memberships that did not come to be.
  const auto epoch = std::max(elastic->place.epoch.value(), elastic->member->latest());
  end_membership();
  const auto patience = host::patience_of(elastic->options);
  if (auto asked = elastic->member->ask(wish_of(epoch, world_size, patience)); !asked) {
    // What was heard last tells why.
    const auto gone = elastic->member->place_after(epoch, Clock::now() + keeper_grace);
    return tl::make_unexpected(gone ? asked.error() : gone.error());
  }
  auto next = elastic->options;
  next.world_size = world_size;
  return form(elastic->member, next, epoch, patience);
}

MembershipState Communicator::membership() const {
  const auto& elastic = state_->elastic;
  if (!elastic) {
    return {};
  }
  const auto epoch = elastic->place.epoch.value();
  return {epoch, elastic->place.newcomers.value(), elastic->member->waiting(),
          state_->regrouped || elastic->member->why_ended(epoch).has_value()};
}

void Communicator::State::adopt(host::Elastic found) {
  elastic.emplace(std::move(found));
  elastic->options.membership = Membership::elastic;
  elastic->member->watch(elastic->place.epoch.value(), [this] {
    aborted = true;
    if (ring) {
      ring->shut_down();
    }
  });
}

// A collective may have failed because a member is gone; then that is what the caller has to know.
void Communicator::State::await_reason(const Error& error) {
  const bool may_be = error.code == Error::Code::network || error.code == Error::Code::timeout;
  if (elastic && may_be && !aborted) {
    (void)elastic->member->await_end(elastic->place.epoch.value(), Clock::now() + news_grace);
  }
}

tl::unexpected<Error> Communicator::State::fail_as_aborted() const {
  if (!elastic) {
    return fail(Error::Code::aborted, aborted_text);
  }
  const auto epoch = elastic->place.epoch.value();
  const bool dismissed = elastic->member->is_dismissed();
  const auto why = elastic->member->why_ended(epoch);  // there is one if it was dismissed by then
  if (aborted_here || (!why && !regrouped)) {
    return fail(Error::Code::aborted, aborted_text);
  }
  const std::string reason =
      dismissed ? *why
      : regrouped
          ? "this rank has called regroup(); go on with the communicator that this returns, or "
            "call it again if it failed"
          : *why + "; call regroup() for the next one, with all ranks that are left";
  return fail(Error::Code::membership_ended, membership_text(epoch) + " has ended: " + reason);
}

// Ends the communicator as its destruction would, but keeps the place in the world.
void Communicator::State::end_membership() {
  if (regrouped.exchange(true)) {
    return;
  }
  elastic->member->watch(0, nullptr);  // the first rank through the last barrier ends it for all
  end();
  aborted = true;
  carrier.reset();
  watch.reset();
  {
    const std::lock_guard lock(closing);
    ring.reset();
  }
  journal.reset();
  selected = false;
}

}  // namespace tributary
