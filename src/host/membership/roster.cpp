// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/roster.h"

#include <algorithm>
#include <cstring>

#include "host/object_bytes.h"
#include "host/rendezvous/table.h"
#include "host/text.h"

namespace tributary::host {
namespace {

constexpr Duration patience_max = std::chrono::hours(24);
constexpr auto how_to_join = "set TRIBUTARY_MEMBERSHIP=join to join it when its members regroup";

// Returns nothing if the word is shorter than that.
template <typename Head>
std::optional<Head> head_of(const Word& word) {
  Head head;
  if (word.body.size() < sizeof head) {
    return std::nullopt;
  }
  std::memcpy(&head, word.body.data(), sizeof head);
  return head;
}

std::string membership_text(std::uint64_t epoch) {
  return "membership " + std::to_string(epoch);
}

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

void Roster::come(Id id, const MemberHello& hello, const std::string& address) {
  if (hello.version.value() != membership_version ||
      hello.options.version.value() != rendezvous_version) {
    dismiss(id, std::string("this process has another version of libtributary than the keeper") +
                    install_the_same);
  } else if (hello.joins.value() != 0) {
    wait_to_join({id, address, hello.options});
  } else {
    found(id, hello, address);
  }
}

void Roster::found(Id id, const MemberHello& hello, const std::string& address) {
  const auto rank = hello.options.rank.value();
  const auto world_size = hello.options.world_size.value();
  const auto who = rank_text(rank);
  if (!seats_.empty()) {
    return dismiss(id, "there is a world at this keeper already, in " + membership_text(epoch_) +
                           ", and " + who +
                           " of those who founded it is either in it or was "
                           "replaced: " +
                           how_to_join);
  }
  if (rank >= world_size || world_size > rendezvous_ranks_max) {
    return dismiss(id, who + " does not exist in a world of " + std::to_string(world_size));
  }
  if (!founders_.empty() && world_size != founders_wanted_) {
    return dismiss(id, who + " was started with world size " + std::to_string(world_size) +
                           ", others with " + std::to_string(founders_wanted_));
  }
  if (const auto first = founders_.find(rank); first != founders_.end()) {
    return dismiss(id, who + " came twice: from " + first->second.address + " and from " + address);
  }
  founders_wanted_ = world_size;
  founders_.emplace(rank, Newcomer{id, address, hello.options});
  lines_.push_back(who + " has come from " + address + ": " + std::to_string(founders_.size()) +
                   " of " + std::to_string(world_size));
  if (founders_.size() < world_size) {
    return;
  }
  Seats seats;
  for (auto& [_, founder] : founders_) {
    seats.push_back(Member{founder.id, founder.address});
  }
  options_ = founders_.begin()->second.options;
  founders_.clear();
  install(std::move(seats), world_size);
  for (auto& one : std::exchange(waiting_, {})) {
    wait_to_join(std::move(one));
  }
}

// Where there is no world yet, this is called again when there is one.
void Roster::wait_to_join(Newcomer newcomer) {
  const auto different = options_ ? disagreement(newcomer.options, "this newcomer", *options_)
                                  : std::optional<std::string>();
  if (different) {
    return dismiss(newcomer.id, "the world at this keeper has other options: " + *different);
  }
  if (seats_.size() + waiting_.size() >= rendezvous_ranks_max) {
    return dismiss(newcomer.id, "the world at this keeper is as large as a world can be");
  }
  lines_.push_back("somebody waits to join, from " + newcomer.address);
  waiting_.push_back(std::move(newcomer));
  tell_who_waits();
}

bool Roster::hear(Id id, const Word& word, Time now) {
  const auto rank = rank_of(id);
  if (!rank) {
    return false;
  }
  if (word.kind == WordKind::regroup) {
    const auto wish = head_of<RegroupWish>(word);
    // A wish that is sent once more may have been fulfilled while it was on its way.
    const bool is_fulfilled = wish && wish->epoch.value() < epoch_;
    return is_fulfilled || (wish && wish->epoch.value() == epoch_ && regroup(*rank, *wish, now));
  }
  return word.kind == WordKind::share && share(*seats_[*rank], word);
}

bool Roster::regroup(std::uint32_t rank, const RegroupWish& wish, Time now) {
  if (wish.world_size.value() > rendezvous_ranks_max) {
    return false;
  }
  auto& mine = seats_[rank]->wish;
  if (!mine) {
    end_membership(seat_text(rank) + " has called regroup()", rank);
  }
  const Duration patience = std::chrono::milliseconds(wish.patience_ms.value());
  mine = Wish{mine ? mine->since : now, std::min(patience, patience_max), wish.world_size.value()};
  decide(now);
  return true;
}

// The wishes of those who are gone do not count: nobody is to wait for what only they wanted.
Roster::Wishes Roster::wishes() const {
  Wishes all;
  for (const auto& seat : seats_) {
    if (seat && seat->wish) {
      ++all.count;
      all.since = std::min(all.since, seat->wish->since);
      all.patience = std::max(all.patience, seat->wish->patience);
      all.world_size = std::max(all.world_size, seat->wish->world_size);
    }
  }
  return all;
}

// An exchange is over when all members have their share in it. A member that is gone never will;
// all others have been told so then.
bool Roster::share(Member& member, const Word& word) {
  const auto epoch = head_of<Epoch>(word);
  if (!epoch || epoch->number.value() != epoch_ || member.share) {
    return false;
  }
  member.share.emplace(word.body.begin() + sizeof(Epoch), word.body.end());
  auto body = body_of(Epoch{wire::be64{epoch_}});
  for (const auto& seat : seats_) {
    if (!seat || !seat->share || seat->share->size() != member.share->size()) {
      return true;
    }
    body.insert(body.end(), seat->share->begin(), seat->share->end());
  }
  for (const auto& seat : seats_) {
    tell(seat->id, WordKind::shares, body);
  }
  return true;
}

void Roster::leave(Id id, Time now) {
  std::erase_if(founders_, [&](const auto& founder) { return founder.second.id == id; });
  if (std::erase_if(waiting_, [&](const Newcomer& one) { return one.id == id; }) != 0) {
    tell_who_waits();
  }
  if (const auto rank = rank_of(id)) {
    lose(*rank, now);
  }
}

void Roster::lose(std::uint32_t rank, Time now) {
  const auto who = seat_text(rank);
  seats_[rank].reset();
  lines_.push_back(who + " is gone from " + membership_text(epoch_));
  if (std::ranges::none_of(seats_, [](const auto& seat) { return seat.has_value(); })) {
    return end_world();
  }
  end_membership(who + " is gone", std::nullopt);
  decide(now);
}

void Roster::end_world() {
  lines_.push_back("the world has ended with " + membership_text(epoch_));
  seats_.clear();
  options_.reset();
  for (const auto& one : std::exchange(waiting_, {})) {
    dismiss(one.id, "the world that this process waited to join has ended");
  }
}

void Roster::expire(Time now) {
  if (now >= deadline()) {
    decide(now);
  }
}

// Goes on to the next membership if all who are left want that, and are enough, or if they have
// waited long enough. A member that has not asked for it by then is left behind.
void Roster::decide(Time now) {
  const auto asked = wishes();
  if (asked.count == 0) {
    return;
  }
  const auto members =
      std::ranges::count_if(seats_, [](const auto& seat) { return seat.has_value(); });
  const bool all_ask = asked.count == static_cast<std::size_t>(members);
  const bool are_enough = asked.count + waiting_.size() >= asked.world_size;
  if (now < asked.until() && !(all_ask && are_enough)) {
    return;
  }
  for (std::uint32_t rank = 0; rank < seats_.size(); ++rank) {
    if (seats_[rank] && !seats_[rank]->wish) {
      lines_.push_back(seat_text(rank) + " is left behind: it did not call regroup()");
      dismiss(seats_[rank]->id,
              membership_text(epoch_ + 1) + " was agreed on without " + seat_text(rank) + " of " +
                  membership_text(epoch_) + ", which did not call regroup() for " +
                  seconds_text(asked.patience) +
                  " after another rank had: end this process, and have a new one join "
                  "(TRIBUTARY_MEMBERSHIP=join)");
      seats_[rank].reset();
    }
  }
  const auto newcomers = static_cast<std::uint32_t>(waiting_.size());
  install(next_seats(), newcomers);
}

// A member that stays keeps its rank where that can be; the lowest of them has rank 0, so that rank
// 0 always knows what there was before. Newcomers take the ranks of those who are gone, and then
// new ones.
Roster::Seats Roster::next_seats() {
  auto seats = std::exchange(seats_, {});
  const auto first = std::ranges::find_if(seats, [](const auto& seat) { return seat.has_value(); });
  std::swap(seats.front(), *first);
  for (auto& one : std::exchange(waiting_, {})) {
    const auto free =
        std::ranges::find_if(seats, [](const auto& seat) { return !seat.has_value(); });
    const Member member{one.id, one.address};
    if (free == seats.end()) {
      seats.push_back(member);
    } else {
      *free = member;
    }
  }
  std::erase_if(seats, [](const auto& seat) { return !seat.has_value(); });
  return seats;
}

void Roster::install(Seats seats, std::uint32_t newcomers) {
  ++epoch_;
  ended_ = false;
  seats_ = std::move(seats);
  const auto world_size = static_cast<std::uint32_t>(seats_.size());
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    seats_[rank]->wish.reset();
    seats_[rank]->share.reset();
    tell(seats_[rank]->id, WordKind::place,
         body_of(MembershipPlace{wire::be64{epoch_}, wire::be32{rank}, wire::be32{world_size},
                                 wire::be32{newcomers}}));
  }
  lines_.push_back(membership_text(epoch_) + ": " + plural(world_size, "rank") + ", " +
                   plural(newcomers, "newcomer") + " among them");
}

// Ends the membership for all at once: what would end it next changes nothing more.
void Roster::end_membership(const std::string& why, std::optional<std::uint32_t> caused_by) {
  if (std::exchange(ended_, true)) {
    return;
  }
  const auto body = body_of(Epoch{wire::be64{epoch_}}, bytes_of_text(why));
  for (std::uint32_t rank = 0; rank < seats_.size(); ++rank) {
    if (seats_[rank] && rank != caused_by) {
      tell(seats_[rank]->id, WordKind::ended, body);
    }
  }
}

void Roster::dismiss(Id id, const std::string& why) {
  const auto text = bytes_of_text(why);
  tell(id, WordKind::dismissed, {text.begin(), text.end()});
  lines_.push_back("turned away: " + why);
}

void Roster::tell(Id id, WordKind kind, std::vector<std::byte> body) {
  told_.push_back({id, {kind, std::move(body)}});
}

void Roster::tell_who_waits() {
  const WaitingCount waiting{wire::be32{static_cast<std::uint32_t>(waiting_.size())}};
  for (const auto& seat : seats_) {
    if (seat) {
      tell(seat->id, WordKind::waiting, body_of(waiting));
    }
  }
  decide(Time::min());
}

std::optional<std::uint32_t> Roster::rank_of(Id id) const {
  const auto found =
      std::ranges::find_if(seats_, [&](const auto& seat) { return seat && seat->id == id; });
  return found == seats_.end() ? std::nullopt
                               : std::optional(static_cast<std::uint32_t>(found - seats_.begin()));
}

std::string Roster::seat_text(std::uint32_t rank) const {
  return rank_text(rank) + " at " + seats_[rank]->address;
}

}  // namespace tributary::host
