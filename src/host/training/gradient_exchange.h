// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "host/communicator.h"
#include "host/error.h"
#include "host/loose/gei.h"
#include "host/loose/rank_set.h"
#include "host/statistics.h"

namespace tributary {

// How far ranks that train together may be apart (section 5.3 of the gradient sketch's paper).
enum class Synchrony : std::uint8_t {
  bsp,  // all are in the same iteration, and every sum has everybody in it
  ssp,  // nobody is more than `staleness` iterations behind the fastest
  asp,  // everybody goes on as fast as it can
};

// What becomes of a rank that would be further behind.
enum class Stale : std::uint8_t {
  wait,  // the others wait for it
  // As in the paper: what is left of its iteration is dropped, and it goes on with the fastest
  // rank's parameters in that one's iteration.
  drop,
};

// Rank 0's count on all ranks, but for regroup and those behind it, which are each rank's own.
struct GradientExchangeOptions {
  Synchrony synchrony = Synchrony::bsp;
  // The following are the paper's s and, as a share of all layers, its p: who has that many layers
  // of its iteration in sums is not stale, and is waited for no more on its account.
  std::uint32_t staleness = 3;
  double proportion = 1.0;  // above 0
  Stale stale = Stale::wait;
  // A rank that begins no iteration while the fastest begins more than so many, as it is busy with
  // one or with something else, gets parameters in place of the sums: for so long sums are kept. At
  // least 1.
  std::uint32_t catch_up = 4;
  // After so many iterations this rank forms its colayers anew: layers that it offers together,
  // from what computing their gradients and making sums took. 0: never, each layer goes by itself.
  std::uint32_t regroup = 0;
  // A rank that has nothing to say comes to a round that late: so long may others have to wait for
  // the round.
  std::chrono::nanoseconds pause = std::chrono::milliseconds(2);
  // When this rank has waited for so long, and whenever again, a line names those that it waits
  // for: to CommunicatorOptions::on_notice, which the exchange's thread may call at the same time.
  std::chrono::nanoseconds stall_warning = std::chrono::seconds(10);
  // Called by the thread that waits in enter(), finish() or close(), ten times a second, so that an
  // interpreter has its signals. False: the wait is given up, and the communicator aborted. It does
  // not throw.
  std::function<bool()> on_wait;
};

// Gradients of one layer that were added up.
struct LayerSum {
  std::size_t layer = 0;
  std::span<const float> values;  // valid during the call
  const RankSet& contributors;    // those and no others, each once
};

// Gradients of ranks that train replicas of a model at speeds of their own, added up layer by
// layer. A rank trains like this, with all ranks giving the same layers:
//
//   while (...) {
//     exchange.enter();                          // the sums so far are applied
//     ...                                        // backward pass
//       exchange.offer(layer, gradient);         // once for each layer, in any order
//     exchange.finish();                         // they are in sums, or stale
//   }
//   exchange.close();
//
// A thread of the exchange takes part in sums for a rank that is busy. All ranks get all sums in
// the same order, also those that they have no gradient in: replicas that begin alike and apply
// them alike are alike after close(). Who is in a sum is known exactly, by every algorithm: sums
// leave nobody out who is to be in it, and nobody is in it who has no gradient for it.
//
// One thread calls; statistics() and gei() any. Where a collective of the communicator fails, the
// exchange has ended, and all calls fail.
class GradientExchange {
 public:
  using Apply = std::function<void(const LayerSum&)>;

  // On all ranks. `layers`: elements of each. `parameters`: everything that `apply` changes, as
  // long on all ranks, for ranks that get those of others in place of sums: with Stale::drop and
  // with asp; otherwise it may be empty. It is read and written, and `apply` called, during enter()
  // and close() alone; `apply` by the thread that calls these. The communicator is the exchange's
  // from now on.
  static Result<GradientExchange> create(Communicator communicator,
                                         const std::vector<std::size_t>& layers,
                                         std::span<float> parameters, Apply apply,
                                         const GradientExchangeOptions& options = {});
  // The same over a communicator that stays the caller's. He leaves it alone, but for abort(),
  // until close() has returned without an error or the exchange is destroyed.
  static Result<GradientExchange> over(Communicator& communicator,
                                       const std::vector<std::size_t>& layers,
                                       std::span<float> parameters, Apply apply,
                                       const GradientExchangeOptions& options = {});
  GradientExchange(GradientExchange&&) noexcept;
  GradientExchange& operator=(GradientExchange&&) noexcept;
  // Closes it; where `apply` throws, it aborts the communicator instead.
  ~GradientExchange();

  // Begins the next iteration, which is returned, once the others are far enough. They begin at 0;
  // who has got parameters with Stale::drop goes on in the iteration of whom it got them from.
  Result<std::uint64_t> enter();
  // The gradient may change as soon as this returns. It does not wait.
  Result<void> offer(std::size_t layer, std::span<const float> gradient);
  // Waits until all gradients of this iteration are in sums, or what is left of them was dropped:
  // false.
  Result<bool> finish();
  // This rank trains no more; in an iteration, it leaves out what is in no sum. Waits for the other
  // ranks to close, and applies their sums.
  Result<void> close();

  // Whose gradients are in sums: the last GeiMatrix::rows_max iterations.
  GeiMatrix gei() const;
  // Of this rank: `iterations` and `iterations_dropped`; `colayers`, and how often it formed
  // others, `regroupings`; `rounds` in which ranks told each other where they are, `layers_summed`,
  // and `layers_contributed`, in which this rank is; `pulls` of parameters; `wait_ns` in enter()
  // and finish(), and `longest_wait_ns` of one call.
  Figures statistics() const;
  // To look at its rank and the like. Once close() has returned it is the caller's to use, where
  // there was no error.
  Communicator& communicator();

 private:
  struct State;
  explicit GradientExchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
