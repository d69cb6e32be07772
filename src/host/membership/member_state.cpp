// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/member_state.h"

#include <utility>

#include "wire/cursor.h"

namespace tributary::host {
namespace {

// Returns null if the word is too short for that form.
template <typename Head>
const Head* front_of(const Word& word) {
  return wire::Cursor(word.body).take<Head>();
}

bool is_possible(const MembershipPlace& place) {
  return place.world_size.value() <= rendezvous_ranks_max &&
         place.rank.value() < place.world_size.value();
}

}  // namespace

bool MemberState::hear(const Word& word) {
  const auto* const epoch = front_of<Epoch>(word);
  const auto* const place = front_of<MembershipPlace>(word);
  const auto* const count = front_of<WaitingCount>(word);
  if (word.kind == WordKind::dismissed) {
    lose(text_of(wire::Bytes(word.body)));
    dismissed_ = true;
    return false;
  }
  if (word.kind == WordKind::waiting && count != nullptr) {
    waiting_ = count->count.value();
  } else if (word.kind == WordKind::ended && epoch != nullptr) {
    if (latest() == epoch->number.value() && !ended_) {
      ended_ = text_of(wire::Bytes(word.body).subspan(sizeof *epoch));
    }
  } else if (word.kind == WordKind::place && place != nullptr) {
    if (!is_possible(*place)) {
      lose("the keeper of memberships told a rank that there cannot be");
      return false;
    }
    place_ = *place;
    shares_.reset();
    ended_.reset();
    waiting_ = 0;
  } else if (word.kind == WordKind::shares && epoch != nullptr) {
    shares_.emplace(word.body.begin() + sizeof *epoch, word.body.end());
  }
  return true;
}

void MemberState::lose(const std::string& why) {
  if (!lost_) {
    lost_ = why;
  }
}

std::optional<Error> MemberState::reason_to_stop() const {
  if (given_up_) {
    return Error{Error::Code::aborted, "the world's next membership was given up"};
  }
  if (!lost_) {
    return std::nullopt;
  }
  return Error{dismissed_ && place_ ? Error::Code::membership_ended : Error::Code::rendezvous,
               *lost_};
}

std::optional<Result<MembershipPlace>> MemberState::place_after(std::uint64_t epoch) const {
  if (latest() > epoch && !given_up_) {
    return *place_;
  }
  const auto stop = reason_to_stop();
  return stop ? std::optional<Result<MembershipPlace>>(tl::make_unexpected(*stop)) : std::nullopt;
}

std::optional<Result<std::vector<std::byte>>> MemberState::take_shares(std::uint64_t epoch) {
  using Shares = Result<std::vector<std::byte>>;
  if (shares_ && !given_up_) {
    return *std::exchange(shares_, std::nullopt);
  }
  if (const auto why = why_ended(epoch); why && !given_up_) {
    return Shares(fail(Error::Code::membership_ended, *why));
  }
  const auto stop = reason_to_stop();
  return stop ? std::optional<Shares>(tl::make_unexpected(*stop)) : std::nullopt;
}

std::optional<Result<void>> MemberState::end_of(std::uint64_t epoch) const {
  if (why_ended(epoch) && !given_up_) {
    return Result<void>();
  }
  const auto stop = reason_to_stop();
  return stop ? std::optional<Result<void>>(tl::make_unexpected(*stop)) : std::nullopt;
}

std::optional<std::string> MemberState::why_ended(std::uint64_t epoch) const {
  if (!place_ || latest() < epoch) {
    return std::nullopt;
  }
  if (dismissed_) {
    return lost_;
  }
  if (latest() > epoch) {
    return "the latest is membership " + std::to_string(latest());
  }
  return ended_;
}

}  // namespace tributary::host
