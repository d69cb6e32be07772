// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/host/window.h"

#include <algorithm>
#include <bit>

#include "wire/key.h"

namespace tributary::host {

FlareWindow::FlareWindow(const FlarePlan& plan, const FlareTuning& tuning, std::uint32_t rank,
                         std::uint32_t world_size, std::uint64_t seed)
    : window_(plan.window),
      stagger_(rank, world_size, plan.window),
      rtt_(tuning.rto),
      rto_max_(tuning.rto.rto_max),
      seed_(seed),
      entries_(std::bit_ceil(plan.window)) {}

void FlareWindow::begin(std::uint32_t blocks) {
  stagger_.begin(blocks);
  std::fill(entries_.begin(), entries_.end(), Entry{});
  blocks_ = blocks;
  base_ = end_ = begun_ = in_flight_ = seen_ = 0;
  holes_.clear();
  again_.clear();
  order_ = 0;
  overtaken_due_ = never;
  expirations_ = 0;
  burst_ = 1;
  answered_ = false;
  held_until_ = never;
}

void FlareWindow::hold(std::uint32_t first, Time until) {
  held_from_ = first;
  held_until_ = until;
}

// Returns the end of the blocks that may be sent.
std::uint32_t FlareWindow::limit() const {
  const auto reach = base_ + std::min(window_, blocks_ - base_);
  return held_until_ == never ? reach : std::min(reach, held_from_);
}

std::optional<FlareWindow::Sending> FlareWindow::next(Time now) {
  while (!again_.empty()) {
    const auto block = again_.front();
    again_.pop_front();
    if (!is_done(block)) {
      entry(block).queued = false;
      entry(block).again = true;
      note_sending(block, now);
      return Sending{block, true};
    }
  }
  const auto block = stagger_.next(limit());
  if (!block) {
    return std::nullopt;
  }
  if (in_flight_++ == 0) {
    timer_from_ = now;
  }
  ++begun_;
  end_ = std::max(end_, *block + 1);
  entry(*block).sent = true;
  entry(*block).timed = answered_;
  note_sending(*block, now);
  return Sending{*block, false};
}

void FlareWindow::note_answer(std::uint32_t block, Time now) {
  entry(block).again = true;
  note_sending(block, now);
}

void FlareWindow::note_sending(std::uint32_t block, Time now) {
  auto& mine = entry(block);
  mine.order = ++order_;
  mine.sent_at = now;
  mine.overtaken = never;
}

bool FlareWindow::sent(std::uint32_t block) const {
  return block < base_ || (block < end_ && entry(block).sent);
}

std::vector<std::uint32_t> FlareWindow::lowest_in_flight(std::size_t most) const {
  std::vector<std::uint32_t> lowest;
  for (auto block = base_; block < end_ && lowest.size() < most; ++block) {
    if (lacks(block)) {
      lowest.push_back(block);
    }
  }
  return lowest;
}

Verdict FlareWindow::take(std::uint32_t block, Time now) {
  if (is_done(block)) {
    return Verdict::duplicate;
  }
  auto& mine = entry(block);
  mine.done = true;
  --in_flight_;
  learn(mine, now);
  note_overtaken(block, now);
  repeat_overtaken(now);
  advance();
  timer_from_ = now;
  expirations_ = 0;
  return Verdict::taken;
}

// A result tells nothing about which sending caused it where there were several, and the first of a
// collective have waited for those who came late.
void FlareWindow::learn(const Entry& entry, Time now) {
  answered_ = true;
  held_until_ = never;
  // What is left of a window that was lost whole goes out twice as fast each time.
  burst_ = entry.by_timer ? std::min(burst_ * 2, window_) : 1;
  if (entry.timed && !entry.again) {
    rtt_.sample(now - entry.sent_at);
  }
}

// Results come in no order that a rank could know: each waits for whoever sends its block last. But
// all ranks send the groups one after the other, so a result proves that they have sent all groups
// before its own.
void FlareWindow::note_overtaken(std::uint32_t block, Time now) {
  const auto group = stagger_.group_start(block);
  for (; seen_ < group; ++seen_) {
    if (!is_done(seen_)) {
      holes_.push_back(seen_);
    }
  }
  const auto& mine = entry(block);
  if (mine.again) {
    return;
  }
  for (const auto hole : holes_) {
    auto& other = entry(hole);
    if (!is_done(hole) && hole < group && !other.queued && other.overtaken == never &&
        other.order < mine.order) {
      other.overtaken = now;
    }
  }
}

// Blocks go over different cores and, perhaps, paths: what was overtaken has one round trip more.
void FlareWindow::repeat_overtaken(Time now) {
  std::erase_if(holes_, [this](std::uint32_t hole) { return is_done(hole); });
  overtaken_due_ = never;
  for (const auto hole : holes_) {
    const auto since = entry(hole).overtaken;
    if (since == never) {
      continue;
    }
    if (const auto due = since + rtt_.smoothed(); now < due) {
      overtaken_due_ = std::min(overtaken_due_, due);
    } else {
      rtt_.forget_slowest();
      repeat(hole);
    }
  }
}

void FlareWindow::repeat(std::uint32_t block) {
  entry(block).overtaken = never;
  if (!entry(block).queued) {
    entry(block).queued = true;
    again_.push_back(block);
  }
}

void FlareWindow::advance() {
  while (base_ < blocks_ && entry(base_).done) {
    entry(base_) = Entry{};
    ++base_;
  }
}

Time FlareWindow::timer() const {
  return in_flight_ == 0 ? never : timer_from_ + patience();
}

// Ranks that are in step overflow the same queue each time, and whatever makes all of them begin
// anew, a result or a switch that comes back, takes them into step; so may jobs be. A part of up to
// a quarter, which is drawn anew after each timeout, comes to the first wait, and is taken off
// those behind it, which are longer anyway.
Duration FlareWindow::patience() const {
  constexpr Duration::rep parts = 1024;
  const auto wait = rtt_.timeout(expirations_);
  const auto drawn =
      static_cast<Duration::rep>(wire::mix_key(seed_ + timeouts_, 0) % std::uint64_t{parts});
  const auto part = wait / 4 / parts * drawn;
  return expirations_ == 0 ? std::min(wait + part, rto_max_) : wait - part;
}

Time FlareWindow::deadline() const {
  return std::min({overtaken_due_, timer(), held_until_});
}

void FlareWindow::expire(Time now) {
  if (now >= held_until_) {
    held_until_ = never;
  }
  if (now >= overtaken_due_) {
    repeat_overtaken(now);
  }
  if (now >= timer()) {
    repeat_lowest(now);
  }
}

void FlareWindow::repeat_lowest(Time now) {
  ++timeouts_;
  ++expirations_;
  timer_from_ = now;
  for (const auto block : lowest_in_flight(burst_)) {
    entry(block).by_timer = true;
    repeat(block);
  }
}

}  // namespace tributary::host
