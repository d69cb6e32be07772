// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "host/call.h"
#include "host/clock.h"
#include "host/error.h"
#include "host/queue/announcement.h"
#include "host/queue/name_table.h"
#include "host/queue/shape.h"
#include "host/queue/votes.h"

namespace tributary::host {

// One rank's part in finding an order for what the ranks post by name, in cycles. It does no I/O:
// it is handed the time and what the ranks' collectives made of its words.
//
// In a cycle, all ranks vote (by "and"); where somebody asks who is missing, they answer (by "or");
// what all of them have posted is carried out in the order of numbers; then the lowest rank that
// has names without numbers announces them (by a broadcast). Whatever a rank decides by is, at that
// point, the same on all ranks.
class Ordering {
 public:
  struct Limits {
    Duration warning;   // after so long those that are waited for are named
    Duration patience;  // after so long they are waited for no more
  };
  struct Outcome {
    std::string name;
    Result<void> result;
  };

  Ordering(std::uint32_t rank, std::uint32_t world_size, const Limits& limits, Time now);

  // After an error the call is not posted. Its arguments are checked; its buffers stay alive until
  // there is an outcome.
  Result<void> post(const std::string& name, const Call& call, Time now);
  // This rank posts no more.
  void close(Time now);

  // Returns when this rank comes to the next cycle: at once when it has something new to say, and
  // in a while where it has not, since others may.
  Time next() const;

  // The following are the steps of a cycle, in their order. vote() returns this rank's votes, to be
  // put together by "and".
  std::span<std::uint64_t> vote(Time now);
  // count() reads the votes once they are put together. An error ends the queue.
  Result<void> count(Time now);
  // census() returns this rank's answers, to be put together by "or"; none where nobody asks.
  std::span<std::uint64_t> census();
  void settle();
  // Returns what is carried out now.
  const std::vector<Call>& ready() const { return ready_; }
  void run_begins(Time now) { run_began_ = now; }
  // Some of what is ready has ended; `places` are their places.
  void run_ended(std::span<const std::size_t> places, Time now);
  // announcer() is the rank that announces, if any does. announcement() has its announcement there,
  // and on the other ranks room for it.
  std::optional<std::uint32_t> announcer() const { return announcer_; }
  std::span<std::byte> announcement();
  Result<void> adopt();

  // Tells whether all ranks have closed, and nothing is left.
  bool is_over() const { return over_; }
  // Ends whatever is outstanding with this error.
  void abandon(const Error& error);

  // These return what has ended, and what people should know, since they were last called.
  std::vector<Outcome> take_outcomes();
  std::vector<std::string> take_warnings();

 private:
  // Says how a rank stands by a name when it votes.
  enum class Standing : std::uint8_t {
    unannounced,  // the name has no number, or one for what is over and was another shape
    alike,
    different,  // from what another rank announced
  };
  struct Posting {
    Call call;
    Shape shape;
    Time since;               // by waiting_time()
    std::uint64_t order = 0;  // the place among this rank's postings
    Standing voted = Standing::unannounced;
    bool warned = false;
    bool overdue = false;
    bool given_up = false;
  };

  // This time stands still while collectives run: a rank that is busy with these is not late.
  Time waiting_time(Time now) const { return run_began_.value_or(now) - busy_; }
  Standing standing(const std::string& name, const Shape& shape) const;
  void vote_on(const std::string& name, Posting& posting, Time now);
  Result<void> count_numbers();
  void count_ranks();
  Result<void> check_closing(Time now) const;
  void answer(std::size_t index);
  void warn(std::size_t number, const std::vector<std::uint32_t>& lacking);
  std::optional<Error> verdict(std::size_t index) const;
  std::vector<std::uint32_t> closed_of(const std::vector<std::uint32_t>& ranks) const;
  void reject(std::size_t number, const Error& error);
  std::string described(std::size_t number) const;

  std::uint32_t rank_;
  std::uint32_t world_size_;
  Limits limits_;

  NameTable table_;
  std::map<std::string, Posting> postings_;  // posted by this rank, and not over
  // They ended before this rank posted its part: an error for each time that it has yet to.
  std::map<std::string, std::deque<Error>> missed_;
  std::uint64_t posted_ = 0;
  std::optional<Time> closed_at_;  // by waiting_time()

  Time began_;          // when the last cycle began
  Duration pause_;      // until the next one, if nothing comes of it
  bool fresh_ = false;  // something was posted, or the queue closed, since
  Duration busy_{};     // spent in collectives
  std::optional<Time> run_began_;

  Votes own_;
  Votes votes_;
  Census census_;
  std::vector<std::size_t> asked_;          // numbers
  std::vector<std::size_t> ready_numbers_;  // of what is ready, in the same order
  std::vector<Call> ready_;
  std::optional<std::uint32_t> announcer_;
  Announcement announcement_{};
  bool anybody_closed_ = false;
  bool over_ = false;

  std::vector<Outcome> outcomes_;
  std::vector<std::string> warnings_;
};

}  // namespace tributary::host
