// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/host/tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "wire/key.h"

namespace tributary::host {
namespace {

// Trees keep order: what lacks its result when so many that were sent later have theirs is lost.
constexpr std::uint64_t overtakers = 3;

// Returns a lag of up to an eighth of the timeout. What is sent again in step with that of other
// trees would push the same packets out of a queue each time.
Duration lag_of(Duration timeout, std::uint64_t random) {
  constexpr std::uint64_t steps = 1024;
  return timeout / 8 * static_cast<Duration::rep>(random % steps) / steps;
}

}  // namespace

PanamaTree::PanamaTree(const PanamaPlan& plan, const PanamaTuning& tuning, std::uint64_t salt)
    : window_(plan.congestion_control),
      rtt_(tuning.rto),
      window_max_(std::max(plan.window_max, CongestionWindow::initial)),
      salt_(salt),
      entries_(std::bit_ceil(window_max_)) {}

void PanamaTree::begin(std::uint32_t packets) {
  window_.restart();
  std::fill(entries_.begin(), entries_.end(), Entry{});
  packets_ = packets;
  base_ = next_ = seen_ = 0;
  holes_.clear();
  again_.clear();
  order_ = newest_ = 0;
  expirations_ = 0;
  lag_ = {};
  burst_ = 1;
  owes_last_ = false;
  begun_ = false;
  left_out_ = false;
}

// The window is a span from the lowest packet that is not done: the memory of the switches relies
// on that.
std::uint32_t PanamaTree::span() const {
  return std::min(window_.size(), window_max_);
}

std::optional<PanamaTree::Sending> PanamaTree::next(Time now) {
  while (!again_.empty()) {
    const auto vid = again_.front();
    again_.pop_front();
    if (!is_done(vid)) {
      entry(vid).queued = false;
      entry(vid).again = true;
      send(vid, now);
      return Sending{vid, true, true};
    }
  }
  while (next_ < packets_ && next_ - base_ < span()) {
    const auto vid = next_++;
    if (entry(vid).done) {
      ++skipped_;
      continue;
    }
    if (vid == base_) {
      timer_from_ = now;
    }
    entry(vid).timed = begun_;
    send(vid, now);
    return Sending{vid, false, left_out_ || vid < seen_};
  }
  if (std::exchange(owes_last_, false)) {
    return Sending{.vid = packets_ - 1, .done = true};
  }
  return std::nullopt;
}

void PanamaTree::send(std::uint32_t vid, Time now) {
  auto& mine = entry(vid);
  mine.sent = true;
  mine.order = ++order_;
  mine.sent_at = now;
}

void PanamaTree::repeat(std::uint32_t vid) {
  if (!entry(vid).queued) {
    entry(vid).queued = true;
    again_.push_back(vid);
  }
}

Verdict PanamaTree::wants(std::uint32_t vid) const {
  if (vid >= packets_) {
    return Verdict::mismatch;
  }
  if (vid < base_) {
    return Verdict::duplicate;
  }
  if (vid - base_ >= entries_.size()) {
    return Verdict::early;
  }
  return entry(vid).done ? Verdict::duplicate : Verdict::taken;
}

void PanamaTree::take(std::uint32_t vid, bool marked, std::uint32_t cap, bool partial, Time now) {
  auto& mine = entry(vid);
  mine.done = true;
  note_absence(mine, partial);
  window_.result(marked, cap, next_ < packets_);
  learn(mine, now);
  look_for_losses(vid);
  advance();
  timer_from_ = now;
  expirations_ = 0;
  lag_ = {};
}

// If only repeats bring results, the others have gone on without this rank: unasked, no switch
// answers what comes too late, and each window would wait for a timer. Results of what was not sent
// yet come by themselves; they tell what is missing before them (see next()).
void PanamaTree::note_absence(const Entry& entry, bool partial) {
  if (!partial || !entry.sent) {
    left_out_ = false;
  } else if (entry.by_timer) {
    left_out_ = true;
  }
}

// A result tells nothing about which sending caused it where there were several, and the first of a
// collective have waited for those who came late.
void PanamaTree::learn(const Entry& entry, Time now) {
  begun_ = true;
  // What is left of a window that was lost whole goes out twice as fast each time.
  burst_ = entry.by_timer ? std::min(burst_ * 2, window_max_) : 1;
  if (!entry.sent || entry.again) {
    return;
  }
  newest_ = std::max(newest_, entry.order);
  if (entry.timed) {
    rtt_.sample(now - entry.sent_at);
  }
}

void PanamaTree::look_for_losses(std::uint32_t vid) {
  for (; seen_ < vid; ++seen_) {
    if (!is_done(seen_)) {
      holes_.push_back(seen_);
    }
  }
  seen_ = std::max(seen_, vid + 1);
  std::erase_if(holes_, [this](std::uint32_t hole) { return is_done(hole); });
  for (const auto hole : holes_) {
    if (entry(hole).sent && newest_ >= entry(hole).order + overtakers) {
      rtt_.forget_slowest();
      repeat(hole);
    }
  }
}

void PanamaTree::advance() {
  while (base_ < packets_ && entry(base_).done) {
    skipped_ += base_ >= next_ ? 1 : 0;
    owes_last_ = !entry(base_).sent && base_ + 1 == packets_;
    entry(base_) = Entry{};
    ++base_;
  }
  next_ = std::max(next_, base_);
}

void PanamaTree::expire(Time now) {
  if (now < deadline()) {
    return;
  }
  ++timeouts_;
  ++expirations_;
  timer_from_ = now;
  lag_ = lag_of(rtt_.timeout(expirations_), wire::mix_key(salt_, timeouts_));
  auto left = burst_;
  for (auto vid = base_; vid < next_ && left > 0; ++vid) {
    if (!is_done(vid)) {
      entry(vid).by_timer = true;
      repeat(vid);
      --left;
    }
  }
}

}  // namespace tributary::host
