// SPDX-License-Identifier: BSD-3-Clause
#include "host/stream/posting.h"

#include <algorithm>
#include <utility>

namespace tributary::host {
namespace {

// The clock's last moment is more than a condition variable can count to.
void sleep(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Time until) {
  if (until == never) {
    changed.wait(lock);
  } else {
    changed.wait_until(lock, until);
  }
}

// Attaches one bell to all of the postings, as long as this object lives.
class Attachment {
 public:
  explicit Attachment(std::span<Posting* const> postings) : postings_(postings) { attach(&bell_); }
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  ~Attachment() { attach(nullptr); }

  Bell& bell() { return bell_; }

 private:
  void attach(Bell* bell) {
    for (auto* const posting : postings_) {
      if (posting != nullptr) {
        posting->attach(bell);
      }
    }
  }

  std::span<Posting* const> postings_;
  Bell bell_;
};

}  // namespace

void Bell::wait(Time until) {
  std::unique_lock lock(mutex_);
  while (!rung_ && (until == never || Clock::now() < until)) {
    sleep(changed_, lock, until);
  }
  rung_ = false;
}

void Posting::set_deadline(Time deadline) {
  const std::lock_guard lock(mutex_);
  deadline_ = std::min(deadline_, deadline);
  if (limit_ != nullptr) {
    limit_->bring_forward(deadline_);
  }
  changed_.notify_all();
}

bool Posting::wait(Time until) {
  Lock lock(mutex_);
  while (!outcome_) {
    const auto now = Clock::now();
    if (is_late(now)) {
      give_up(lock);
      return true;
    }
    if (now >= until) {
      return false;
    }
    sleep(changed_, lock, limit_ != nullptr ? until : std::min(until, deadline_));
  }
  return true;
}

void Posting::on_end(Told told) {
  Lock lock(mutex_);
  if (!outcome_) {
    told_ = std::move(told);
    return;
  }
  lock.unlock();
  if (told) {
    told(*outcome_);
  }
}

void Posting::begin(Limit& limit) {
  const std::lock_guard lock(mutex_);
  limit.bring_forward(deadline_);
  if (!outcome_) {
    limit_ = &limit;
  }
}

void Posting::end(Result<void> outcome) {
  Lock lock(mutex_);
  if (!outcome_) {
    finish(lock, std::move(outcome));
  }
}

void Posting::attach(Bell* bell) {
  const std::lock_guard lock(mutex_);
  bell_ = bell;
}

Time Posting::gives_up_at() {
  const std::lock_guard lock(mutex_);
  return limit_ != nullptr ? never : deadline_;
}

void Posting::give_up(Lock& lock) {
  finish(lock, fail(Error::Code::timeout,
                    "the deadline of this request passed before its turn: what was posted before "
                    "it has not ended, and says itself what is missing; or its group has not"));
}

// Whoever is told may call the posting again, so that is done without the lock.
void Posting::finish(Lock& lock, Result<void> outcome) {
  outcome_ = std::move(outcome);
  limit_ = nullptr;
  const auto told = std::exchange(told_, nullptr);
  changed_.notify_all();
  if (bell_ != nullptr) {
    bell_->ring();
  }
  lock.unlock();
  if (told) {
    told(*outcome_);
  }
}

std::optional<std::size_t> wait_any(std::span<Posting* const> postings, Time until) {
  Attachment attached(postings);
  for (;;) {
    auto wake = until;
    for (std::size_t place = 0; place < postings.size(); ++place) {
      auto* const posting = postings[place];
      if (posting != nullptr && posting->wait(Time{})) {
        return place;
      }
      wake = posting == nullptr ? wake : std::min(wake, posting->gives_up_at());
    }
    if (until != never && Clock::now() >= until) {
      return std::nullopt;
    }
    attached.bell().wait(wake);
  }
}

}  // namespace tributary::host
