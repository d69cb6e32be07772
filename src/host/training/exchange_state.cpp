// SPDX-License-Identifier: BSD-3-Clause
// This part of an exchange carries out the trainer's calls.
#include "host/training/exchange_state.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/text.h"

namespace tributary {
namespace {

using host::Clock;
using host::invalid;

std::vector<std::size_t> begins_of(const std::vector<std::size_t>& layers) {
  std::vector<std::size_t> begins(layers.size() + 1, 0);
  std::partial_sum(layers.begin(), layers.end(), begins.begin() + 1);
  return begins;
}

// This is for ever, as far as an exchange goes, and a point of time has room for it.
constexpr std::chrono::hours duration_max{24 * 365};
constexpr std::chrono::milliseconds on_wait_interval{100};

std::uint64_t nanoseconds(host::Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

GradientExchange::State::State(Communicator& over, const std::vector<std::size_t>& layers,
                               std::span<float> shared, Apply used, const host::Terms& terms,
                               const GradientExchangeOptions& options,
                               std::unique_ptr<host::Timeline> row)
    : communicator(over),
      begins_(begins_of(layers)),
      parameters_(shared),
      apply_(std::move(used)),
      pause_(std::min<host::Duration>(options.pause, duration_max)),
      stall_warning_(std::min<host::Duration>(options.stall_warning, duration_max)),
      on_wait_(options.on_wait),
      timeline_(std::move(row)),
      gradients_(begins_.back()),
      sketch_(terms.sketch()),
      kept_(sketch_ && sketch_->feedback ? begins_.back() : 0),
      sketches_(layers.size()),
      rounds_(communicator.rank(), communicator.world_size(), layers.size(), terms.rule()),
      colayers_(layers.size()),
      offered_at_(layers.size()) {}

GradientExchange::State::~State() {
  if (thread.joinable()) {
    thread.join();
  }
}

Result<std::uint64_t> GradientExchange::State::enter() {
  Lock lock(mutex_);
  if (broken_) {
    return tl::make_unexpected(*broken_);
  }
  if (in_iteration_ || closed_) {
    return invalid(closed_ ? "this rank has closed its exchange: it enters no iteration any more"
                           : "call finish() before the next enter()");
  }
  if (auto rested = rest(lock, "enter()", [this] { return rounds_.may_enter(); }); !rested) {
    return tl::make_unexpected(rested.error());
  }
  begin_iteration();
  return iteration_;
}

void GradientExchange::State::begin_iteration() {
  in_iteration_ = true;
  ++iterations_;
  iteration_ = rounds_.enter();
  iteration_began_ = Clock::now();
  colayers_.begin(iteration_);
}

Result<void> GradientExchange::State::offer(std::size_t layer, std::span<const float> gradient) {
  if (layer >= begins_.size() - 1 || gradient.size() != elements(layer)) {
    return invalid("there are " + std::to_string(begins_.size() - 1) +
                   " layers, and a gradient has as many elements as its layer");
  }
  {
    const Lock lock(mutex_);
    if (!in_iteration_ || colayers_.has(layer)) {
      return invalid("each layer is offered once between enter() and finish()");
    }
  }
  std::copy(gradient.begin(), gradient.end(),
            gradients_.begin() + static_cast<std::ptrdiff_t>(begins_[layer]));
  const Lock lock(mutex_);
  const auto now = Clock::now();
  for (const auto ready : colayers_.ready(layer, (now - iteration_began_).count())) {
    if (rounds_.is_inside()) {
      rounds_.offer(ready);
      offered_at_[ready] = now;
      turn_.notify_one();
    }
  }
  return state_of_thread();
}

Result<bool> GradientExchange::State::finish() {
  Lock lock(mutex_);
  if (broken_) {  // a rank that has heard of it offers no more
    return tl::make_unexpected(*broken_);
  }
  if (!in_iteration_ || (rounds_.is_inside() && !colayers_.is_complete())) {
    return invalid("finish() comes after enter() and an offer() of each layer");
  }
  show("compute", iteration_began_, Clock::now());
  if (auto done = await(lock, "finish()", [this] { return !rounds_.is_inside(); }); !done) {
    return tl::make_unexpected(done.error());
  }
  in_iteration_ = false;
  iterations_dropped_ += rounds_.was_dropped() ? 1 : 0;
  return !rounds_.was_dropped();
}

Result<void> GradientExchange::State::close() {
  Lock lock(mutex_);
  if (!closed_) {
    closed_ = true;
    in_iteration_ = false;
    rounds_.close();
    turn_.notify_one();
  }
  return rest(lock, "close()", [this] { return ended_; });
}

// Takes part in what happens between iterations until the condition holds, and every sum so far is
// applied.
Result<void> GradientExchange::State::rest(Lock& lock, std::string_view where,
                                           const std::function<bool()>& condition) {
  Result<void> done;
  for (apply_backlog(lock); done && !condition(); apply_backlog(lock)) {
    resting_ = true;
    done = await(lock, where, [&] { return (!backlog_.empty() && !lacks_sums_) || condition(); });
    resting_ = false;
  }
  return done ? state_of_thread() : done;
}

void GradientExchange::State::apply_backlog(Lock& lock) {
  while (!backlog_.empty() && !lacks_sums_) {
    const auto batch = std::move(backlog_.front());
    backlog_.pop_front();
    lock.unlock();
    try {
      apply(batch);
    } catch (...) {
      give_up(lock);
      throw;
    }
    lock.lock();
  }
}

void GradientExchange::State::apply(const Batch& batch) const {
  std::span<const float> rest(batch.values);
  for (const auto& sum : batch.sums) {
    const auto count = elements(sum.layer);
    apply_({sum.layer, rest.first(count), sum.contributors, sum.iteration});
    rest = rest.subspan(count);
  }
}

// This replica lacks a sum that the others have.
void GradientExchange::State::give_up(Lock& lock) {
  communicator.abort();
  lock.lock();
  lacks_sums_ = true;
  broken_ = Error{Error::Code::aborted,
                  "a sum could not be applied on this rank, which has aborted the communicator"};
}

Result<void> GradientExchange::State::await(Lock& lock, std::string_view where,
                                            const std::function<bool()>& condition) {
  const auto began = Clock::now();
  auto warning = began + stall_warning_;
  auto look = on_wait_ ? began + on_wait_interval : host::never;
  waiting_ = true;
  turn_.notify_one();
  while (!ended_ && !condition()) {
    changed_.wait_until(lock, std::min(warning, look));
    if (Clock::now() >= look) {
      look_up(lock);
      look = Clock::now() + on_wait_interval;
    }
    if (Clock::now() >= warning && !condition()) {
      warn(lock, where, Clock::now() - began);
      warning += stall_warning_;
    }
  }
  waiting_ = false;
  show(where, began, Clock::now());
  if (!closed_) {
    const auto took = Clock::now() - began;
    waited_ += took;
    longest_wait_ = std::max(longest_wait_, took);
  }
  return state_of_thread();
}

void GradientExchange::State::warn(Lock& lock, std::string_view where, host::Duration waited) {
  const auto awaited = rounds_.awaited();
  const auto line = "gradient exchange: rank " + std::to_string(communicator.rank()) +
                    " has waited in " + std::string(where) + " for " + host::seconds_text(waited) +
                    (awaited.empty() ? "" : ": for " + host::ranks_text(awaited));
  lock.unlock();
  communicator.notify(line);
  lock.lock();
}

void GradientExchange::State::look_up(Lock& lock) {
  lock.unlock();
  if (!on_wait_()) {
    communicator.abort();
  }
  lock.lock();
}

void GradientExchange::State::show(std::string_view what, host::Time began, host::Time ended) {
  if (timeline_) {
    timeline_->add("training", what, began, ended,
                   R"("iteration":)" + std::to_string(iteration_) + R"(,"colayers":)" +
                       std::to_string(colayers_.count()));
  }
}

Result<void> GradientExchange::State::state_of_thread() const {
  if (broken_) {
    return tl::make_unexpected(*broken_);
  }
  return {};
}

GeiMatrix GradientExchange::State::gei() {
  const Lock lock(mutex_);
  return rounds_.gei();
}

Figures GradientExchange::State::figures() {
  const Lock lock(mutex_);
  return {{"iterations", iterations_},
          {"iterations_dropped", iterations_dropped_},
          {"colayers", colayers_.count()},
          {"regroupings", regroupings_},
          {"rounds", rounds_.rounds()},
          {"layers_summed", layers_summed_},
          {"layers_contributed", layers_contributed_},
          {"pulls", pulls_},
          {"wait_ns", nanoseconds(waited_)},
          {"longest_wait_ns", nanoseconds(longest_wait_)}};
}

}  // namespace tributary
