// SPDX-License-Identifier: BSD-3-Clause
// What the trainer's calls do.
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

std::uint64_t nanoseconds(host::Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

GradientExchange::State::State(Communicator given, const std::vector<std::size_t>& layers,
                               std::span<float> shared, Apply used, const host::Terms& terms,
                               const GradientExchangeOptions& options)
    : communicator(std::move(given)),
      begins_(begins_of(layers)),
      parameters_(shared),
      apply_(std::move(used)),
      pause_(options.pause),
      stall_warning_(options.stall_warning),
      gradients_(begins_.back()),
      rounds_(communicator.rank(), communicator.world_size(), layers.size(), terms.rule()) {}

GradientExchange::State::~State() {
  if (thread.joinable()) {
    thread.join();
  }
}

Result<std::uint64_t> GradientExchange::State::enter() {
  Lock lock(mutex_);
  if (in_iteration_ || closed_) {
    return invalid(closed_ ? "this rank has closed its exchange: it enters no iteration any more"
                           : "call finish() before the next enter()");
  }
  if (auto rested = rest(lock, "enter()", [this] { return rounds_.may_enter(); }); !rested) {
    return tl::make_unexpected(rested.error());
  }
  in_iteration_ = true;
  ++iterations_;
  return rounds_.enter();
}

Result<void> GradientExchange::State::offer(std::size_t layer, std::span<const float> gradient) {
  if (layer + 1 >= begins_.size() || gradient.size() != elements(layer)) {
    return invalid("there are " + std::to_string(begins_.size() - 1) +
                   " layers, and a gradient has as many elements as its layer");
  }
  {
    const Lock lock(mutex_);
    if (!in_iteration_ || (rounds_.is_inside() && rounds_.has_offered(layer))) {
      return invalid("each layer is offered once between enter() and finish()");
    }
  }
  std::copy(gradient.begin(), gradient.end(),
            gradients_.begin() + static_cast<std::ptrdiff_t>(begins_[layer]));
  const Lock lock(mutex_);
  if (rounds_.is_inside()) {
    rounds_.offer(layer);
    turn_.notify_one();
  }
  return state_of_thread();
}

Result<bool> GradientExchange::State::finish() {
  Lock lock(mutex_);
  if (!in_iteration_ || lacks_offers()) {
    return invalid("finish() comes after enter() and an offer() of each layer");
  }
  if (auto done = await(lock, "finish()", [this] { return !rounds_.is_inside(); }); !done) {
    return tl::make_unexpected(done.error());
  }
  in_iteration_ = false;
  iterations_dropped_ += rounds_.was_dropped() ? 1 : 0;
  return !rounds_.was_dropped();
}

bool GradientExchange::State::lacks_offers() const {
  for (std::size_t layer = 0; rounds_.is_inside() && layer + 1 < begins_.size(); ++layer) {
    if (!rounds_.has_offered(layer)) {
      return true;
    }
  }
  return false;
}

Result<void> GradientExchange::State::close() {
  Lock lock(mutex_);
  if (!closed_) {
    closed_ = true;
    in_iteration_ = false;
    rounds_.close();
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
    done = await(lock, where, [&] { return !backlog_.empty() || condition(); });
    resting_ = false;
  }
  return done ? state_of_thread() : done;
}

void GradientExchange::State::apply_backlog(Lock& lock) {
  while (!backlog_.empty()) {
    const auto batch = std::move(backlog_.front());
    backlog_.pop_front();
    lock.unlock();
    std::span<const float> rest(batch.values);
    for (const auto& sum : batch.sums) {
      apply_({sum.layer, rest.first(elements(sum.layer)), sum.contributors});
      rest = rest.subspan(elements(sum.layer));
    }
    lock.lock();
  }
}

Result<void> GradientExchange::State::await(Lock& lock, std::string_view where,
                                            const std::function<bool()>& condition) {
  const auto began = Clock::now();
  auto warning = began + stall_warning_;
  waiting_ = true;
  turn_.notify_one();
  while (!ended_ && !condition()) {
    if (changed_.wait_until(lock, warning) == std::cv_status::timeout && !condition()) {
      warn(lock, where, Clock::now() - began);
      warning += stall_warning_;
    }
  }
  waiting_ = false;
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
          {"rounds", rounds_.rounds()},
          {"layers_summed", layers_summed_},
          {"layers_contributed", layers_contributed_},
          {"pulls", pulls_},
          {"wait_ns", nanoseconds(waited_)},
          {"longest_wait_ns", nanoseconds(longest_wait_)}};
}

}  // namespace tributary
