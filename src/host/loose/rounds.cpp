// SPDX-License-Identifier: BSD-3-Clause
#include "host/loose/rounds.h"

#include <algorithm>
#include <string>
#include <utility>

#include "host/text.h"

namespace tributary::host {

Rounds::Rounds(std::uint32_t rank, std::uint32_t world_size, std::size_t layers,
               const LooseRule& rule)
    : rank_(rank),
      world_size_(world_size),
      layers_(layers),
      rule_(rule),
      own_(layers, Own::none),
      words_(world_size, layers),
      heard_(world_size),
      latest_then_(world_size, 0),
      exchanged_(layers, RankSet(world_size)),
      pulling_(world_size),
      dropped_(world_size),
      gei_(world_size, layers) {
  for (auto& standing : heard_) {
    standing.offers.assign(layers, false);
  }
  spoken_ = heard_[rank];
}

bool Rounds::may_enter() const {
  if (inside_ || closed_ || is_pulling() || is_asked() || spoken_.gives) {
    return false;
  }
  if (!rule_.bounded) {
    return true;
  }
  if (rule_.drops) {  // further behind, the next round would find it stale
    return latest_ <= finished_ + 1 + rule_.staleness;
  }
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    if (holds_up(rank)) {
      return false;
    }
  }
  return true;
}

std::uint64_t Rounds::enter() {
  inside_ = true;
  dropped_here_ = false;
  own_.assign(layers_, Own::none);
  entered_ = finished_ + 1;
  gei_.extend_to(finished_);
  return finished_;
}

void Rounds::offer(std::size_t layer) {
  own_[layer] = Own::offered;
}

void Rounds::close() {
  inside_ = false;
  closed_ = true;
}

bool Rounds::is_asked() const {
  const bool fastest = entered_ >= latest_ && !is_pulling();
  return fastest && std::any_of(heard_.begin(), heard_.end(),
                                [](const Standing& standing) { return standing.wants; });
}

bool Rounds::is_owed() const {
  return inside_ && std::find(own_.begin(), own_.end(), Own::offered) != own_.end();
}

std::vector<std::uint32_t> Rounds::awaited() const {
  std::vector<std::uint32_t> found;
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    const bool is_late = is_pulling() ? heard_[rank].entered == latest_
                         : inside_    ? lacks_offer(rank)
                         : closed_    ? !heard_[rank].closed
                                      : rule_.bounded && !rule_.drops && holds_up(rank);
    if (is_late && rank != rank_) {
      found.push_back(rank);
    }
  }
  return found;
}

// Tells whether that rank lacks a layer that this rank has offered in vain so far.
bool Rounds::lacks_offer(std::uint32_t rank) const {
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    if (own_[layer] == Own::offered && !heard_[rank].closed && !heard_[rank].offers[layer]) {
      return true;
    }
  }
  return false;
}

Standing Rounds::standing(bool at_rest) const {
  Standing now{entered_,
               finished_,
               at_rest && is_pulling(),
               at_rest && is_asked(),
               closed_,
               spoken_.applied || (closed_ && at_rest),
               std::vector<bool>(layers_),
               spoken_.waited_us};
  for (std::size_t layer = 0; inside_ && layer < layers_; ++layer) {
    now.offers[layer] = own_[layer] == Own::offered;
  }
  return now;
}

std::span<std::uint64_t> Rounds::speak(bool at_rest, std::uint32_t waited_us) {
  spoken_ = standing(at_rest);
  spoken_.waited_us = waited_us;
  words_.write(rank_, spoken_);
  return words_.words();
}

Result<void> Rounds::hear() {
  std::vector<Standing> now;
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    now.push_back(words_.read(rank));
    if (!is_sound(rank, now.back()) || (rank == rank_ && now.back() != spoken_)) {
      return fail(Error::Code::mismatch,
                  "what " + rank_text(rank) +
                      " says of its iterations cannot be: do all ranks run the same release, and "
                      "nothing else on this communicator?");
    }
  }
  const auto latest_before = latest_;
  for (const auto& standing : now) {
    latest_ = std::max(latest_, standing.entered);
  }
  regroups_ = rule_.regroup != 0 && latest_ / rule_.regroup > latest_before / rule_.regroup;
  if (latest_ > 0) {
    gei_.extend_to(latest_ - 1);
  }
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    adopt(rank, std::move(now[rank]));
    judge(rank);
  }
  choose_giver();
  choose_sums();
  return {};
}

// Tells whether a rank that keeps to the rules can go on like that.
bool Rounds::is_sound(std::uint32_t rank, const Standing& now) const {
  const auto& then = heard_[rank];
  const bool has_finished = exchanged(rank) == layers_;
  const bool goes_on = (now.finished == then.finished + (has_finished ? 1 : 0)) &&
                       (now.entered == now.finished || now.entered == now.finished + 1) &&
                       now.entered >= then.entered && now.closed >= then.closed &&
                       now.closed >= now.applied;
  const bool may_want = !now.wants || (pulling_.has(rank) && !now.gives);
  const bool may_offer = now.is_inside() && !now.closed;
  if (!goes_on || !may_want) {
    return false;
  }
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    const bool again = !has_finished && exchanged_[layer].has(rank);
    if (now.offers[layer] && (!may_offer || again)) {
      return false;
    }
  }
  return true;
}

void Rounds::adopt(std::uint32_t rank, Standing now) {
  if (now.finished != heard_[rank].finished) {
    forget_exchanged(rank);
  }
  if (now.entered != heard_[rank].entered) {
    latest_then_[rank] = latest_;
  }
  heard_[rank] = std::move(now);
}

// Judges whether a rank can go on with the sums, and whether what it computes still counts
// (CheckStaleness and CheckProportion of the paper).
void Rounds::judge(std::uint32_t rank) {
  const auto& standing = heard_[rank];
  if (standing.closed) {
    return;
  }
  const bool stale = rule_.drops && latest_ > standing.finished + 1 + rule_.staleness &&
                     exchanged(rank) < rule_.proportion;
  const bool far_behind = latest_ > latest_then_[rank] + rule_.catch_up;
  if (stale) {
    dropped_.add(rank);
  }
  if (stale || far_behind) {
    pulling_.add(rank);
  }
  if (rank == rank_ && dropped_.has(rank) && inside_) {
    inside_ = false;
    dropped_here_ = true;
  }
}

std::uint32_t Rounds::waited_us() const {
  std::uint32_t least = 0;
  for (const auto& standing : heard_) {
    const auto waited = standing.waited_us;
    least = least == 0 || (waited != 0 && waited < least) ? waited : least;
  }
  return least;
}

void Rounds::choose_giver() {
  giver_.reset();
  const bool wanted = std::any_of(heard_.begin(), heard_.end(),
                                  [](const Standing& standing) { return standing.wants; });
  for (std::uint32_t rank = 0; wanted && rank < world_size_; ++rank) {
    if (heard_[rank].gives && (!giver_ || heard_[rank].entered > heard_[*giver_].entered)) {
      giver_ = rank;
    }
  }
}

void Rounds::choose_sums() {
  sums_.clear();
  for (std::size_t layer = 0; layer < layers_; ++layer) {
    Sum sum{layer, RankSet(world_size_), 0};
    bool all = true;
    for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
      if (heard_[rank].offers[layer] && !dropped_.has(rank)) {
        sum.contributors.add(rank);
        sum.iteration = std::max(sum.iteration, heard_[rank].finished);
      } else if (!heard_[rank].closed) {
        all = false;
      }
    }
    if (!sum.contributors.empty() && (all || !rule_.together)) {
      sums_.push_back(std::move(sum));
    }
  }
}

void Rounds::end() {
  for (const auto& sum : sums_) {
    settle_sum(sum);
  }
  for (std::uint32_t rank = 0; giver_ && rank < world_size_; ++rank) {
    settle_pull(rank);
  }
  const bool is_done =
      std::all_of(own_.begin(), own_.end(), [](const Own& own) { return own == Own::exchanged; });
  if (entered_ > finished_ && is_done) {
    inside_ = false;
    ++finished_;
  }
  spoken_.gives = false;
  spoken_.applied = spoken_.applied && sums_.empty();
  ++rounds_;
}

void Rounds::settle_sum(const Sum& sum) {
  for (const auto rank : sum.contributors.ranks()) {
    exchanged_[sum.layer].add(rank);
    gei_.add(heard_[rank].finished, sum.layer, rank);
  }
  if (sum.contributors.has(rank_)) {
    own_[sum.layer] = Own::exchanged;
  }
}

// A rank that was dropped and has the fastest rank's parameters is where that one is.
void Rounds::settle_pull(std::uint32_t rank) {
  auto& standing = heard_[rank];
  if (!standing.wants) {
    return;
  }
  if (dropped_.has(rank)) {
    standing.entered = standing.finished = latest_ - 1;
    forget_exchanged(rank);
    if (rank == rank_) {
      entered_ = finished_ = latest_ - 1;
    }
  }
  latest_then_[rank] = latest_;
  standing.wants = false;
  pulling_.remove(rank);
  dropped_.remove(rank);
}

bool Rounds::is_over() const {
  return pulling_.empty() && std::all_of(heard_.begin(), heard_.end(),
                                         [](const Standing& standing) { return standing.applied; });
}

// Returns how many iterations a rank is done with, as far as others wait for it.
std::uint64_t Rounds::progress(std::uint32_t rank) const {
  return heard_[rank].finished + (exchanged(rank) >= rule_.proportion ? 1 : 0);
}

// Tells whether that rank keeps this one from its next iteration.
bool Rounds::holds_up(std::uint32_t rank) const {
  return rank != rank_ && !heard_[rank].closed && finished_ > progress(rank) + rule_.staleness;
}

// Returns how many layers of the iteration that a rank is in are in sums, to be compared with the
// paper's p.
std::size_t Rounds::exchanged(std::uint32_t rank) const {
  return static_cast<std::size_t>(std::count_if(
      exchanged_.begin(), exchanged_.end(), [rank](const RankSet& in) { return in.has(rank); }));
}

void Rounds::forget_exchanged(std::uint32_t rank) {
  for (auto& in : exchanged_) {
    in.remove(rank);
  }
}

}  // namespace tributary::host
