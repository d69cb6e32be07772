// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "host/clock.h"
#include "host/communicator.h"
#include "host/gradient_sketch.h"
#include "host/journal/timeline.h"
#include "host/loose/colayers.h"
#include "host/loose/rounds.h"
#include "host/training/batches.h"
#include "host/training/gradient_exchange.h"
#include "host/training/terms.h"

namespace tributary {

// The rounds and what is behind them belong to whoever holds the lock. The communicator belongs to
// the thread, and so do the words that the rounds lend, until it has reduced them. The parameters
// are the thread's while the trainer is at rest and gives or wants them; the trainer's otherwise.
struct GradientExchange::State {
  State(Communicator& over, const std::vector<std::size_t>& layers, std::span<float> shared,
        Apply used, const host::Terms& terms, const GradientExchangeOptions& options,
        std::unique_ptr<host::Timeline> row);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  // The trainer calls these.
  Result<std::uint64_t> enter();
  Result<void> offer(std::size_t layer, std::span<const float> gradient);
  Result<bool> finish();
  Result<void> close();
  GeiMatrix gei();
  Figures figures();

  void run();  // called by the thread

  std::unique_ptr<Communicator> owned;  // null: it is the caller's
  Communicator& communicator;
  std::thread thread;

 private:
  using Lock = std::unique_lock<std::mutex>;

  // Sums of layers that follow each other.
  struct Batch {
    std::vector<host::Rounds::Sum> sums;
    std::vector<float> values;
  };

  // The trainer calls these while it holds the lock, which is released for what they call.
  Result<void> await(Lock& lock, std::string_view where, const std::function<bool()>& condition);
  void warn(Lock& lock, std::string_view where, host::Duration waited);
  void look_up(Lock& lock);
  Result<void> rest(Lock& lock, std::string_view where, const std::function<bool()>& condition);
  void apply_backlog(Lock& lock);
  void apply(const Batch& batch) const;
  void give_up(Lock& lock);
  Result<void> state_of_thread() const;
  void begin_iteration();
  void show(std::string_view what, host::Time began, host::Time ended);

  // The thread calls these.
  bool is_at_rest() const { return resting_ && backlog_.empty(); }
  void await_turn();
  Result<void> round();
  Result<void> tell();
  Result<void> hand_over(std::uint32_t giver, bool takes);
  Result<std::vector<Batch>> add_up(const std::vector<host::Rounds::Sum>& sums);
  Result<void> add_up(Batch& batch);
  Result<void> add_up_sketched(Batch& batch);
  void note_sums();
  Result<void> form_colayers();
  Batch contributions(std::span<const host::Rounds::Sum> sums) const;
  template <typename Use>
  void for_own(const Batch& batch, Use use);
  void end(std::vector<Batch> batches);
  std::size_t elements(std::size_t layer) const { return begins_[layer + 1] - begins_[layer]; }

  const std::vector<std::size_t> begins_;  // of each layer, and the end of the last one
  const std::span<float> parameters_;
  const Apply apply_;
  const host::Duration pause_;
  const host::Duration stall_warning_;
  const std::function<bool()> on_wait_;
  const std::unique_ptr<host::Timeline> timeline_;  // of the trainer; null where there is none

  std::vector<float> gradients_;  // of this rank's iteration; a layer is the thread's when offered
  std::vector<float> scratch_;    // parameters that are for others
  const std::optional<SketchOptions> sketch_;
  std::vector<float> kept_;  // what sketches rounded off this rank's gradients; the thread's
  std::vector<std::uint64_t> sketches_;  // that began with each layer; the thread's
  host::SumTimes sum_times_;             // the thread's
  std::size_t summed_ = 0;               // elements in the sums of the last round; the thread's

  std::mutex mutex_;
  std::condition_variable turn_;     // wakes the thread, which may be due
  std::condition_variable changed_;  // wakes the trainer: a round has ended
  host::Rounds rounds_;
  host::Colayers colayers_;
  std::vector<host::Time> offered_at_;  // of each layer, when it was offered last
  host::Time sums_ended_{};             // the last round that had sums
  std::uint32_t waited_us_ = 0;         // for the sums of the last round, once they could be made
  std::deque<Batch> backlog_;           // sums that the trainer has not applied
  bool in_iteration_ = false;           // as the trainer sees it
  std::uint64_t iteration_ = 0;
  host::Time iteration_began_{};
  bool closed_ = false;
  bool waiting_ = false;  // the trainer waits
  bool resting_ = false;  // it waits between iterations
  host::Time round_ended_{};
  std::optional<Error> broken_;
  bool lacks_sums_ = false;  // one could not be applied, and none is any more
  bool ended_ = false;       // the thread is done with everything

  std::uint64_t iterations_ = 0;
  std::uint64_t iterations_dropped_ = 0;
  std::uint64_t regroupings_ = 0;
  std::uint64_t layers_summed_ = 0;
  std::uint64_t layers_contributed_ = 0;
  std::uint64_t pulls_ = 0;
  host::Duration waited_{};
  host::Duration longest_wait_{};
};

}  // namespace tributary
