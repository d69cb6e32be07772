// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/ordering.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "host/text.h"

namespace tributary::host {
namespace {

using Fact = Votes::Fact;
using Finding = Census::Finding;

// So many names are remembered with their numbers.
constexpr std::size_t names_max = 1024;

// The pause between two cycles while this rank waits for others gets longer each time that nothing
// comes of one.
constexpr auto pause_min = std::chrono::milliseconds(1);
constexpr auto pause_max = std::chrono::milliseconds(8);
// The others wait so long at most for a rank that has nothing to say.
constexpr auto heartbeat_max = std::chrono::milliseconds(50);

std::string quoted(const std::string& name) {
  return "'" + name + "'";
}

}  // namespace

Ordering::Ordering(std::uint32_t rank, std::uint32_t world_size, const Limits& limits, Time now)
    : rank_(rank),
      world_size_(world_size),
      limits_(limits),
      table_(names_max),
      began_(now),
      pause_(pause_min) {}

Result<void> Ordering::post(const std::string& name, const Call& call, Time now) {
  if (closed_at_) {
    return invalid("the queue is closed here: " + quoted(name) + " comes too late");
  }
  if (name.empty() || name.size() > queue_name_bytes_max) {
    return invalid("the name of a collective has 1 to " + std::to_string(queue_name_bytes_max) +
                   " bytes");
  }
  if (const auto missed = missed_.find(name); missed != missed_.end()) {
    const auto error = missed->second.front();
    missed->second.pop_front();
    if (missed->second.empty()) {
      missed_.erase(missed);
    }
    return tl::make_unexpected(error);
  }
  const Posting posting{call, shape_of(call), waiting_time(now), posted_};
  if (!postings_.try_emplace(name, posting).second) {
    return invalid(quoted(name) + " is outstanding; wait for its end before it is posted again");
  }
  ++posted_;
  fresh_ = true;
  return {};
}

void Ordering::close(Time now) {
  if (!closed_at_) {
    closed_at_ = waiting_time(now);
    fresh_ = true;
  }
}

Time Ordering::next() const {
  if (fresh_) {
    return began_;
  }
  const bool waits = !postings_.empty() || closed_at_;
  return began_ + (waits ? pause_ : std::min<Duration>(heartbeat_max, limits_.patience / 8));
}

Ordering::Standing Ordering::standing(const std::string& name, const Shape& shape) const {
  const auto number = table_.find(name);
  if (!number) {
    return Standing::unannounced;
  }
  const auto& row = table_[*number];
  if (row.shape == shape) {
    return Standing::alike;
  }
  return row.open ? Standing::different : Standing::unannounced;
}

std::span<std::uint64_t> Ordering::vote(Time now) {
  began_ = now;
  fresh_ = false;
  votes_ = Votes(world_size_, table_.size());
  for (auto& [name, posting] : postings_) {
    vote_on(name, posting, waiting_time(now));
  }
  if (!postings_.empty()) {
    votes_.state(Fact::busy, rank_);
  }
  if (closed_at_) {
    votes_.state(Fact::closed, rank_);
  }
  own_ = votes_;
  return votes_.words();
}

void Ordering::vote_on(const std::string& name, Posting& posting, Time now) {
  posting.voted = standing(name, posting.shape);
  if (posting.voted == Standing::unannounced) {
    votes_.state(Fact::has_news, rank_);
    return;
  }
  const auto number = *table_.find(name);
  const auto waited = now - posting.since;
  posting.overdue = waited >= limits_.warning && !posting.warned;
  posting.given_up = waited >= limits_.patience;
  if (posting.voted == Standing::alike) {
    votes_.set_ready(number);
  }
  // A rank that has closed will not post what it lacks.
  if (posting.voted == Standing::different || posting.overdue || posting.given_up ||
      anybody_closed_) {
    votes_.ask(number);
  }
}

Result<void> Ordering::count(Time now) {
  if (auto counted = count_numbers(); !counted) {
    return counted;
  }
  count_ranks();
  const bool eventful = !ready_.empty() || announcer_;
  pause_ = eventful ? pause_min : std::min<Duration>(2 * pause_, pause_max);
  return check_closing(now);
}

Result<void> Ordering::count_numbers() {
  asked_.clear();
  ready_numbers_.clear();
  ready_.clear();
  for (std::size_t number = 0; number < table_.size(); ++number) {
    if (votes_.is_ready(number)) {
      if (!own_.is_ready(number)) {
        return fail(Error::Code::mismatch,
                    "the ranks' votes are not what this rank voted; do all ranks use the queue's "
                    "communicator for the queue alone?");
      }
      ready_numbers_.push_back(number);
      ready_.push_back(postings_.find(table_[number].name)->second.call);
    } else if (votes_.is_asked(number)) {
      asked_.push_back(number);
    }
  }
  return {};
}

void Ordering::count_ranks() {
  announcer_.reset();
  anybody_closed_ = false;
  over_ = true;
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    const bool closed = votes_.is_stated(Fact::closed, rank);
    anybody_closed_ = anybody_closed_ || closed;
    over_ = over_ && closed && !votes_.is_stated(Fact::busy, rank);
    if (!announcer_ && votes_.is_stated(Fact::has_news, rank)) {
      announcer_ = rank;
    }
  }
}

// A rank that has closed does not wait for ever, either.
Result<void> Ordering::check_closing(Time now) const {
  if (!closed_at_ || over_ || waiting_time(now) - *closed_at_ < limits_.patience) {
    return {};
  }
  std::vector<std::uint32_t> open;
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    if (!votes_.is_stated(Fact::closed, rank)) {
      open.push_back(rank);
    }
  }
  if (open.empty()) {
    return {};
  }
  return fail(Error::Code::timeout, "the queue is closed here, but for " +
                                        seconds_text(limits_.patience) + " not on " +
                                        ranks_text(open) +
                                        "; close it on all ranks, or allow more time "
                                        "(TRIBUTARY_STALL_TIMEOUT)");
}

std::span<std::uint64_t> Ordering::census() {
  census_ = Census(world_size_, asked_.size());
  for (std::size_t index = 0; index < asked_.size(); ++index) {
    answer(index);
  }
  return census_.words();
}

// Answers as it was when the ranks voted: what was posted since is in nobody's answer.
void Ordering::answer(std::size_t index) {
  const auto found = postings_.find(table_[asked_[index]].name);
  if (found == postings_.end() || found->second.voted == Standing::unannounced) {
    census_.state(Finding::lacks, index, rank_);
    return;
  }
  const auto& posting = found->second;
  if (posting.voted == Standing::different) {
    census_.state(Finding::differs, index, rank_);
  }
  if (posting.overdue) {
    census_.state(Finding::overdue, index, rank_);
  }
  if (posting.given_up) {
    census_.state(Finding::gives_up, index, rank_);
  }
}

void Ordering::settle() {
  for (std::size_t index = 0; index < asked_.size(); ++index) {
    const auto number = asked_[index];
    if (const auto error = verdict(index)) {
      reject(number, *error);
    } else if (!census_.ranks(Finding::overdue, index).empty()) {
      warn(number, census_.ranks(Finding::lacks, index));
    }
  }
}

// This is said once, and not as many times as ranks wait.
void Ordering::warn(std::size_t number, const std::vector<std::uint32_t>& lacking) {
  if (const auto found = postings_.find(table_[number].name); found != postings_.end()) {
    found->second.warned = true;
  }
  warnings_.push_back(described(number) + " has waited for " + seconds_text(limits_.warning) +
                      ": it is not posted by " + ranks_text(lacking));
}

std::optional<Error> Ordering::verdict(std::size_t index) const {
  const auto number = asked_[index];
  if (const auto different = census_.ranks(Finding::differs, index); !different.empty()) {
    return Error{Error::Code::mismatch,
                 described(number) + ", as rank " + std::to_string(table_[number].announcer) +
                     " posted it, is not the same on " + ranks_text(different) +
                     "; under one name all ranks post the same collective, type, operator, count "
                     "and root"};
  }
  const auto lacking = census_.ranks(Finding::lacks, index);
  if (const auto gone = closed_of(lacking); !gone.empty()) {
    return Error{Error::Code::mismatch, described(number) +
                                            " cannot be carried out: " + ranks_text(gone) +
                                            " closed the queue without having posted it"};
  }
  if (!census_.ranks(Finding::gives_up, index).empty()) {
    return Error{Error::Code::timeout, described(number) + " was given up after " +
                                           seconds_text(limits_.patience) +
                                           ": it was not posted by " + ranks_text(lacking)};
  }
  return std::nullopt;
}

std::vector<std::uint32_t> Ordering::closed_of(const std::vector<std::uint32_t>& ranks) const {
  std::vector<std::uint32_t> closed;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(closed),
               [&](std::uint32_t rank) { return votes_.is_stated(Fact::closed, rank); });
  return closed;
}

// Ends a collective on all ranks. A rank that has not posted it gets the error the next time that
// it does: otherwise that posting would go together with what the others post later.
void Ordering::reject(std::size_t number, const Error& error) {
  const auto name = table_[number].name;
  const auto found = postings_.find(name);
  if (found == postings_.end()) {
    missed_[name].push_back(error);
  } else {
    auto mine = error;
    if (found->second.voted == Standing::different) {
      mine.message += " (here: " + to_string(found->second.shape) + ")";
    }
    outcomes_.push_back({name, tl::make_unexpected(std::move(mine))});
    postings_.erase(found);
  }
  table_.end(number);
}

std::string Ordering::described(std::size_t number) const {
  return quoted(table_[number].name) + " (" + to_string(table_[number].shape) + ")";
}

void Ordering::run_ended(std::span<const std::size_t> places, Time now) {
  busy_ += now - *run_began_;
  run_began_.reset();
  for (const auto place : places) {
    const auto number = ready_numbers_[place];
    const auto& name = table_[number].name;
    postings_.erase(name);
    outcomes_.push_back({name, {}});
    table_.end(number);
  }
}

std::span<std::byte> Ordering::announcement() {
  if (announcer_ != rank_) {
    return announcement_;
  }
  std::vector<std::pair<std::uint64_t, Announced>> news;
  for (const auto& [name, posting] : postings_) {
    if (standing(name, posting.shape) == Standing::unannounced) {
      news.push_back({posting.order, {name, posting.shape}});
    }
  }
  std::sort(news.begin(), news.end(),
            [](const auto& one, const auto& other) { return one.first < other.first; });
  std::vector<Announced> names;
  std::transform(news.begin(), news.end(), std::back_inserter(names),
                 [](auto& each) { return std::move(each.second); });
  announcement_ = announcement_of(names);
  return announcement_;
}

Result<void> Ordering::adopt() {
  const auto names = parse_announcement(announcement_, world_size_);
  if (!names) {
    return tl::make_unexpected(names.error());
  }
  for (const auto& [name, shape] : *names) {
    table_.announce(name, shape, *announcer_);
  }
  return {};
}

void Ordering::abandon(const Error& error) {
  for (const auto& [name, posting] : postings_) {
    outcomes_.push_back({name, tl::make_unexpected(error)});
  }
  postings_.clear();
}

std::vector<Ordering::Outcome> Ordering::take_outcomes() {
  return std::exchange(outcomes_, {});
}

std::vector<std::string> Ordering::take_warnings() {
  return std::exchange(warnings_, {});
}

}  // namespace tributary::host
