// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host/communicator.h"
#include "host/error.h"
#include "host/gradient_sketch.h"
#include "host/loose/gei.h"
#include "host/loose/rank_set.h"
#include "host/statistics.h"

namespace tributary {

// Says how far ranks that train together may be apart (section 5.3 of the gradient sketch's paper).
enum class Synchrony : std::uint8_t {
  bsp,  // all are in the same iteration, and every sum has everybody in it
  ssp,  // nobody is more than `staleness` iterations behind the fastest
  asp,  // everybody goes on as fast as it can
};

// Says what becomes of a rank that would fall further behind than that.
enum class Stale : std::uint8_t {
  wait,  // the others wait for it
  // As in the paper, what is left of the rank's iteration is dropped, and it goes on with the
  // fastest rank's parameters in that rank's iteration.
  drop,
};

// Rank 0's options count on all ranks, but `pause` and those behind it are each rank's own.
struct GradientExchangeOptions {
  Synchrony synchrony = Synchrony::bsp;
  // These are the paper's s and, as a share of all layers, its p: a rank that has that share of its
  // iteration's layers in sums is not stale, and is waited for no more on its account.
  std::uint32_t staleness = 3;
  double proportion = 1.0;  // above 0
  Stale stale = Stale::wait;
  // A rank may begin no iteration, as it is busy with one or with something else, while the fastest
  // begins more than so many. It then gets parameters in place of the sums, which are kept for only
  // so many iterations. At least 1.
  std::uint32_t catch_up = 4;
  // Sums are made of sketches of the gradients. With feedback, what was rounded off goes along with
  // the rank's next gradient of the same layer; what is kept after the last one is lost. With the
  // same seed, BSP and reproducible sums, a run rounds the same way again. None: gradients go as
  // they are.
  std::optional<SketchOptions> sketch;
  // After so many iterations of the fastest rank, colayers are formed anew. A colayer is some
  // layers that a rank offers together; they follow from how long computing their gradients and
  // making sums took, and are the same on all ranks with bsp. 0: never, each layer goes by itself.
  std::uint32_t regroup = 0;
  // A rank that has nothing to say comes to a round that much later, so the others may have to wait
  // that long for the round.
  std::chrono::nanoseconds pause = std::chrono::milliseconds(2);
  // Whenever this rank has waited for so long, CommunicatorOptions::on_notice is given a line that
  // names the ranks that it waits for. The exchange's thread may call it at the same time.
  std::chrono::nanoseconds stall_warning = std::chrono::seconds(10);
  // The thread that waits in enter(), finish() or close() calls it ten times a second, so that an
  // interpreter can handle its signals. If it returns false, the wait is given up and the
  // communicator aborted. It does not throw.
  std::function<bool()> on_wait;
};

// The sum of the gradients of one layer.
struct LayerSum {
  std::size_t layer = 0;
  std::span<const float> values;  // valid during the call
  const RankSet& contributors;    // exactly the ranks whose gradients are in it, each once
  // The iteration of these gradients, the latest where they are of several. Where ranks are apart,
  // it may be lower than that of an earlier sum.
  std::uint64_t iteration = 0;
};

// Adds up, layer by layer, the gradients of ranks that train replicas of a model, each at its own
// speed. A rank trains like this, where all ranks have the same layers:
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
// the same order, also those without a gradient of their own: replicas that begin alike and apply
// the sums alike are alike after close(). Who is in a sum is known exactly, by every algorithm: a
// sum leaves nobody out who is to be in it, and has nobody in it who has no gradient for it.
//
// One thread calls; any thread may call statistics() and gei(). Where a collective of the
// communicator fails, the exchange ends, and all calls fail.
class GradientExchange {
 public:
  using Apply = std::function<void(const LayerSum&)>;

  // All ranks call it. `layers` has the number of elements of each layer. `parameters` is
  // everything that `apply` changes, as long on all ranks: with Stale::drop and with asp, a rank
  // may get another one's parameters in place of sums; otherwise it may be empty. It is read and
  // written only during enter() and close(), and only the thread that calls these calls `apply`.
  // The communicator belongs to the exchange from now on.
  static Result<GradientExchange> create(Communicator communicator,
                                         const std::vector<std::size_t>& layers,
                                         std::span<float> parameters, Apply apply,
                                         const GradientExchangeOptions& options = {});
  // Does the same over a communicator that stays the caller's, who leaves it alone, but for
  // abort(), until close() has returned without an error or the exchange is destroyed.
  static Result<GradientExchange> over(Communicator& communicator,
                                       const std::vector<std::size_t>& layers,
                                       std::span<float> parameters, Apply apply,
                                       const GradientExchangeOptions& options = {});
  GradientExchange(GradientExchange&&) noexcept;
  GradientExchange& operator=(GradientExchange&&) noexcept;
  // Closes the exchange; where `apply` throws, it aborts the communicator instead.
  ~GradientExchange();

  // Begins the next iteration once the others are far enough, and returns its number. Iterations
  // begin at 0; a rank that was given parameters with Stale::drop goes on in the iteration of the
  // rank that they came from.
  Result<std::uint64_t> enter();
  // Does not wait. The gradient may change as soon as this returns.
  Result<void> offer(std::size_t layer, std::span<const float> gradient);
  // Waits until all gradients of this iteration are in sums. Returns false if what was left of them
  // was dropped.
  Result<bool> finish();
  // Says that this rank trains no more; within an iteration, it leaves out what is in no sum yet.
  // Waits for the other ranks to close, and applies their sums; without an error, all ranks have
  // done so.
  Result<void> close();

  // Tells whose gradients are in sums, for the last GeiMatrix::rows_max iterations.
  GeiMatrix gei() const;
  // Counts on this rank: `iterations` and `iterations_dropped`; `colayers`, and how often it formed
  // others, `regroupings`; `rounds` in which ranks told each other where they are; `layers_summed`,
  // and `layers_contributed`, those that this rank is in; `pulls` of parameters; `wait_ns` in
  // enter() and finish(), and `longest_wait_ns` of one call.
  Figures statistics() const;
  // The communicator tells its rank and the like. Once close() has returned without an error, the
  // caller may use it.
  Communicator& communicator();

 private:
  struct State;
  explicit GradientExchange(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary
