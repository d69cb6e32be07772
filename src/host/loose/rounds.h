// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/error.h"
#include "host/loose/gei.h"
#include "host/loose/rank_set.h"
#include "host/loose/standings.h"

namespace tributary::host {

// Says how far apart ranks may be, and what becomes of a rank that is further behind.
struct LooseRule {
  // BSP: a layer is added up when everybody has its gradient; otherwise whenever somebody has.
  bool together = false;
  // Nobody is more than `staleness` iterations behind: the others wait for a rank, or what it
  // computes is dropped. Neither is done to a rank that has `proportion` layers of its iteration in
  // sums; those that wait then take it for done with that iteration.
  bool bounded = false;
  bool drops = false;
  std::uint64_t staleness = 0;
  std::size_t proportion = 1;
  // A rank that begins no iteration while the fastest begins more than so many gets parameters in
  // place of the sums: it takes no sums while it is in an iteration, and perhaps none behind it.
  std::uint64_t catch_up = 1;
  // Whenever the fastest rank has entered so many more iterations, ranks form their colayers anew;
  // 0: never.
  std::uint64_t regroup = 0;
};

// One rank's part in training steps that are synchronised loosely (section 5.3 of the gradient
// sketch's paper), in rounds. It does no I/O: it is handed what the ranks' collectives made of its
// words.
//
// In a round, all ranks say how they stand (by "or"); the parameters of a rank that gives them go
// to those that want them (by a broadcast); then each layer of which somebody has a gradient is
// added up, with zeros of those that have none. Everything but what a rank says of itself follows
// from what all have heard, and is the same on all ranks: who is in a sum, too, before it is made.
//
// Ranks that are fastest never want parameters, so there is always one to give them.
class Rounds {
 public:
  struct Sum {
    std::size_t layer = 0;
    RankSet contributors;
    std::uint64_t iteration = 0;  // the latest that a contributor is in
  };

  // Precondition: layers > 0, and 0 < proportion <= layers.
  Rounds(std::uint32_t rank, std::uint32_t world_size, std::size_t layers, const LooseRule& rule);

  // may_enter() tells whether this rank may begin its next iteration; enter() does that, and
  // returns the iteration's number.
  bool may_enter() const;
  std::uint64_t enter();
  // Within an iteration, this rank offers a gradient of each layer once.
  bool has_offered(std::size_t layer) const { return own_[layer] != Own::none; }
  void offer(std::size_t layer);
  // It is in the iteration until all of its gradients are in sums, or what is left is dropped.
  bool is_inside() const { return inside_; }
  bool was_dropped() const { return dropped_here_; }  // since the last enter()
  // While it is pulling, sums are not for this rank: it waits for another rank's parameters.
  bool is_pulling() const { return pulling_.has(rank_); }
  // Tells whether this rank has to give its parameters before it goes on.
  bool is_asked() const;
  // This rank begins no iteration any more. In one, it leaves out what is in no sum yet.
  void close();
  // Tells whether this rank has offered a gradient that is in no sum yet, in this iteration.
  bool is_owed() const;
  // Returns the ranks that this one waits for, as far as it knows.
  std::vector<std::uint32_t> awaited() const;
  // Tells whether this rank has something to say that it has not said. At rest means that it waits
  // between iterations or after the last one, and that every sum so far is in its parameters.
  bool has_news(bool at_rest) const { return standing(at_rest) != spoken_; }

  // The following are the steps of a round, in their order. speak() returns how this rank stands,
  // as words to be put together by "or", and for how long it waited for the sums of the round
  // before that it is in.
  std::span<std::uint64_t> speak(bool at_rest, std::uint32_t waited_us = 0);
  // hear() reads these words once they are put together. It fails if ranks that keep to the rules
  // have no such words.
  Result<void> hear();
  // waited_us() is the least that a rank which was in the sums of the round before waited for them:
  // others may have waited for that rank. 0: there were none.
  std::uint32_t waited_us() const;
  // regroups() tells whether colayers are formed in this round, and colayers_from() from which
  // iteration on they count. With BSP that is the first that, as far as this round knows, no rank
  // has entered. Otherwise it is the one that a rank enters next: before a slow rank came to that
  // which nobody has entered, it would have formed others.
  bool regroups() const { return regroups_; }
  bool is_together() const { return rule_.together; }
  std::uint64_t colayers_from() const { return rule_.together ? latest_ : 0; }
  // giver() is the rank that gives its parameters, if any does; takes() tells whether this rank
  // takes them.
  std::optional<std::uint32_t> giver() const { return giver_; }
  bool takes() const { return giver_ && heard_[rank_].wants; }
  // Returns what is added up, by layer.
  const std::vector<Sum>& sums() const { return sums_; }
  void end();

  // Tells whether all ranks have closed, and have applied every sum, and none lacks parameters. So
  // a rank that cannot apply one still has the others to tell.
  bool is_over() const;
  std::uint64_t rounds() const { return rounds_; }  // that have ended
  const GeiMatrix& gei() const { return gei_; }

 private:
  enum class Own : std::uint8_t { none, offered, exchanged };

  Standing standing(bool at_rest) const;
  bool is_sound(std::uint32_t rank, const Standing& now) const;
  void adopt(std::uint32_t rank, Standing now);
  void judge(std::uint32_t rank);
  void choose_giver();
  void choose_sums();
  void settle_sum(const Sum& sum);
  void settle_pull(std::uint32_t rank);

  std::uint64_t progress(std::uint32_t rank) const;
  bool holds_up(std::uint32_t rank) const;
  bool lacks_offer(std::uint32_t rank) const;
  std::size_t exchanged(std::uint32_t rank) const;
  void forget_exchanged(std::uint32_t rank);

  std::uint32_t rank_;
  std::uint32_t world_size_;
  std::size_t layers_;
  LooseRule rule_;

  // These are this rank's own.
  std::uint64_t entered_ = 0;
  std::uint64_t finished_ = 0;
  std::vector<Own> own_;  // of each layer, in the last iteration
  bool inside_ = false;
  bool dropped_here_ = false;
  bool closed_ = false;
  Standing spoken_;

  // These are the same on all ranks, but while words are lent out.
  StandingWords words_;
  std::vector<Standing> heard_;
  std::uint64_t latest_ = 0;                // iterations that the fastest rank has entered
  std::vector<std::uint64_t> latest_then_;  // latest_ when a rank was seen to enter its own, or
                                            // pulled
  GeiMatrix::Row exchanged_;                // who has a gradient in a sum, of the iteration that
                                            // each is in
  RankSet pulling_;
  RankSet dropped_;  // those that are pulling and whose gradients count no more
  GeiMatrix gei_;
  std::optional<std::uint32_t> giver_;
  std::vector<Sum> sums_;
  bool regroups_ = false;
  std::uint64_t rounds_ = 0;
};

}  // namespace tributary::host
