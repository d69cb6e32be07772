// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "host/clock.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/rendezvous/messages.h"
#include "host/transport/tcp.h"

namespace tributary::host {

// Has what the ranks know of each other when they have met.
struct Meeting {
  Job job;
  std::vector<Endpoint> ring;       // where each rank listens for its ring predecessor, by rank
  std::vector<RendezvousEnd> ends;  // by rank
};

// This is said where a meeting is given up (Deadline::obey).
inline constexpr auto meeting_given_up = "the meeting was given up";
// Waits as `wait` does, but fails when `until` is given up.
Wait heeding(const Deadline& until, Wait wait = wait_alone);

// The connections of a meeting, kept until all ranks have what they need of each other: meanwhile a
// rank that fails says so, and all others hear of it at once.
class Rendezvous {
 public:
  Rendezvous() = default;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;
  virtual ~Rendezvous() = default;

  const Meeting& meeting() const { return meeting_; }
  // Waits as wait_for() does; an error with code rendezvous if another rank fails meanwhile.
  virtual Result<bool> wait(int fd, short events, Time until) = 0;
  // Tells how this rank has fared, and waits until all have done well, or one has not.
  virtual Result<void> conclude(const Result<void>& mine, const Deadline& until) = 0;

 protected:
  Meeting meeting_;
};

// Rank 0 waits for all others at `place`, or at `listener` where it listens already, and the others
// go there. It checks that they agree and hands out the table. The payload and the window agreed on
// are the smallest of all. With a secret, a process that does not know it is a stranger, whom rank
// 0 turns away. The meeting ends by `until`, or soon after that was given up.
Result<std::unique_ptr<Rendezvous>> meet(const Endpoint& place, const RendezvousHello& hello,
                                         std::string_view secret, const Deadline& until,
                                         std::optional<Listener> listener = std::nullopt);

}  // namespace tributary::host
