// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "protocols/panama/engine/config.h"

namespace tributary::panama {

// The trees of a job here: those that are installed, and of these the active ones.
struct JobTrees {
  std::uint32_t installed = 0;
  std::uint32_t active = 0;
};

// Tells how much of the packet memory one tree has: what its senders, if they obey, may make wait
// at each of its ports. It falls only after all that was sent under the old cap has been added up.
struct Grant {
  std::uint32_t packets = 0;
  bool active = false;
  bool falling = false;
  std::uint32_t fall_to = 0;   // what the senders are told meanwhile
  std::uint64_t fall_end = 0;  // position that nobody sends under the old cap
  JobTrees* job = nullptr;     // the memory's own, while the tree is installed
};

// This is the cap that the latest result tells the senders of a tree: the least of all switches.
struct ToldCap {
  std::uint16_t cap = initial_window;
  std::uint64_t position = 0;  // of that result

  void note(std::uint64_t at, std::uint16_t told) {
    const bool is_latest = at >= position;
    cap = is_latest ? told : std::min(told, cap);
    position = is_latest ? at : position;
  }
};

// Divides the packet memory of one core among jobs (4.2.2: packet_memory / num_jobs). Every tree
// owns an initial window, what is left belongs to the active jobs in equal parts, and a job's part
// to its active trees. The sum of all grants never exceeds the memory: a grant rises only into what
// others have really given back.
class PacketMemory {
 public:
  explicit PacketMemory(std::uint32_t packets) : packets_(packets) {}

  // A tree that finds no room gets its initial window as soon as others have given some back.
  void install(Grant& grant, std::uint32_t job) {
    grant.job = &jobs_[job];
    ++grant.job->installed;
    ++trees_;
    raise(grant, initial_window);
    if (grant.packets < initial_window) {
      starved_.push_back(&grant);
    }
  }
  // `held` packets are forgotten with the tree.
  void remove(Grant& grant) {
    --trees_;
    rest(grant);
    --grant.job->installed;
    std::erase_if(jobs_, [](const auto& job) { return job.second.installed == 0; });
    std::erase(starved_, &grant);
    shrink(grant, 0);
    grant = {};
  }

  void activate(Grant& grant) {
    if (!std::exchange(grant.active, true)) {
      ++active_;
      active_jobs_ += grant.job->active++ == 0 ? 1 : 0;
    }
  }
  // Takes the tree's share back: nothing of it is under way any more but `held` packets, if
  // anything.
  void deactivate(Grant& grant, std::uint32_t held) {
    rest(grant);
    grant.falling = false;
    shrink(grant, std::max(initial_window, held));
  }

  // Returns the window cap to write into a sum (section 5: packet_memory / num_jobs), which may
  // change the grant. `highest` is the position of the last packet seen.
  std::uint32_t cap(Grant& grant, std::uint64_t highest) {
    const auto share = grant.active ? target(grant) : initial_window;
    if (share >= grant.packets) {
      grant.falling = false;
      raise(grant, share);
      return grant.packets;
    }
    if (!grant.falling || share < grant.fall_to) {
      grant.fall_end = highest + grant.packets;
    }
    grant.falling = true;
    grant.fall_to = share;
    return share;
  }
  // Adds to the grant what others have given back since the last sum.
  void raise_to_share(Grant& grant) {
    if (grant.active && !grant.falling) {
      raise(grant, target(grant));
    }
  }
  // Returns the cap without any change.
  std::uint32_t shown_cap(const Grant& grant) const {
    return grant.falling ? grant.fall_to : grant.packets;
  }
  // Lets the grant fall once its old cap is past: all before `sent` is added up, and nobody sends
  // it any more; `held` of the tree's packets wait at one port at most.
  void drain(Grant& grant, std::uint64_t sent, std::uint32_t held) {
    if (grant.falling && sent > grant.fall_end) {
      grant.falling = false;
      shrink(grant, std::max(grant.fall_to, held));
    }
  }

  // Returns whether a tree lacks its initial window.
  bool is_short() const { return !starved_.empty(); }
  std::uint32_t packets() const { return packets_; }
  std::uint32_t granted() const { return granted_; }
  std::uint32_t trees() const { return trees_; }
  std::uint32_t active() const { return active_; }
  // Returns what a tree is to have while it is active.
  std::uint32_t target(const Grant& grant) const {
    const auto owned = std::min(packets_, trees_ * initial_window);
    const auto of_job = (packets_ - owned) / std::max(active_jobs_, 1u);
    return initial_window + of_job / std::max(grant.job->active, 1u);
  }

 private:
  void rest(Grant& grant) {
    if (std::exchange(grant.active, false)) {
      --active_;
      active_jobs_ -= --grant.job->active == 0 ? 1 : 0;
    }
  }
  void raise(Grant& grant, std::uint32_t to) {
    const auto more = std::min(to - std::min(to, grant.packets), packets_ - granted_);
    grant.packets += more;
    granted_ += more;
  }
  void shrink(Grant& grant, std::uint32_t to) {
    const auto kept = std::min(grant.packets, to);
    granted_ -= grant.packets - kept;
    grant.packets = kept;
    feed_starved();
  }
  void feed_starved() {
    std::erase_if(starved_, [this](Grant* grant) {
      raise(*grant, initial_window);
      return grant->packets >= initial_window;
    });
  }

  std::uint32_t packets_;
  std::uint32_t granted_ = 0;
  std::uint32_t trees_ = 0;
  std::uint32_t active_ = 0;
  std::uint32_t active_jobs_ = 0;
  std::map<std::uint32_t, JobTrees> jobs_;  // grants point into it
  std::vector<Grant*> starved_;             // without their initial window yet
};

}  // namespace tributary::panama
