// SPDX-License-Identifier: BSD-3-Clause
// This part of an exchange is its thread, and the creation of the exchange.
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/safely.h"
#include "host/sketch/check.h"
#include "host/sketch/quantile_steps.h"
#include "host/text.h"
#include "host/thread.h"
#include "host/training/batches.h"
#include "host/training/exchange_state.h"

namespace tributary {
namespace {

using host::Call;
using host::call_of;
using host::Clock;
using host::Collective;

// A rank that waits for others comes to rounds so many times sooner than one that does not.
constexpr int hurry = 8;

Call over_words(std::span<std::uint64_t> words) {
  return call_of(Collective::allreduce, words.data(), words.data(), words.size(),
                 wire::ElementType::i64, wire::Operator::bit_or);
}

Call from(std::uint32_t root, std::span<float> values) {
  return call_of(Collective::broadcast, values.data(), values.data(), values.size(),
                 wire::ElementType::f32, wire::Operator::sum, root);
}

// Fails if a sum of these layers is too long for a collective. On a grid it has no more bytes than
// one of as many floats; by quantiles, where each layer goes by itself, all ranks get all sketches.
Result<void> check_lengths(const std::vector<std::size_t>& layers,
                           const std::optional<SketchOptions>& sketch, std::uint32_t world_size,
                           const std::function<Result<void>(const Call&)>& check) {
  const auto all = std::accumulate(layers.begin(), layers.end(), std::size_t{0});
  const auto longest = *std::ranges::max_element(layers);
  float any = 0;
  const auto sums = std::max(longest, std::min(host::batch_elements, all));
  auto checked = check(host::sum_of_floats(std::span(&any, sums)));
  if (!checked || !sketch || sketch->kind != SketchKind::quantiles) {
    return checked;
  }
  const auto bytes = host::sketch::QuantileSteps::bytes_of(longest, sketch->bits, world_size);
  return check(call_of(Collective::allreduce, &any, &any, bytes, wire::ElementType::i8,
                       wire::Operator::bit_or));
}

}  // namespace

void GradientExchange::State::run() {
  for (bool over = false; !over;) {
    await_turn();
    const auto done = host::safely([this] { return round(); }, [this] { communicator.abort(); });
    const Lock lock(mutex_);
    if (!done && !broken_) {
      broken_ = done.error();
      broken_->message =
          "the exchange of gradients has ended, make a new communicator: " + broken_->message;
    }
    over = !done || rounds_.is_over();
    ended_ = over;
    changed_.notify_all();
  }
}

void GradientExchange::State::await_turn() {
  Lock lock(mutex_);
  while (!rounds_.has_news(is_at_rest())) {
    const bool hurries = waiting_ || rounds_.is_owed();
    const auto due = round_ended_ + (hurries ? pause_ / hurry : pause_);
    if (Clock::now() >= due) {
      return;
    }
    turn_.wait_until(lock, due);
  }
}

Result<void> GradientExchange::State::round() {
  if (auto told = tell(); !told) {
    return told;
  }
  // Only hear() and end() change these parts of the rounds, and only this thread calls them.
  if (const auto giver = rounds_.giver()) {
    if (auto given = hand_over(*giver, rounds_.takes()); !given) {
      return given;
    }
  }
  if (const auto waited_us = rounds_.waited_us(); waited_us != 0) {
    sum_times_.add(summed_, waited_us * 1e-6);
  }
  if (rounds_.regroups() && !sum_times_.is_empty()) {
    if (auto formed = form_colayers(); !formed) {
      return formed;
    }
  }
  auto batches = add_up(rounds_.sums());
  if (!batches) {
    return tl::make_unexpected(batches.error());
  }
  end(std::move(*batches));
  return {};
}

Result<void> GradientExchange::State::tell() {
  Lock lock(mutex_);
  const auto words = rounds_.speak(is_at_rest(), waited_us_);
  lock.unlock();
  auto told = communicator.run_aside(over_words(words));
  lock.lock();
  return told.and_then([&] { return rounds_.hear(); });
}

Result<void> GradientExchange::State::hand_over(std::uint32_t giver, bool takes) {
  const bool gives = giver == communicator.rank();
  if (!gives && !takes) {
    scratch_.resize(parameters_.size());
  }
  const auto done =
      communicator.run_with_all(from(giver, gives || takes ? parameters_ : std::span(scratch_)));
  const Lock lock(mutex_);
  pulls_ += takes ? 1 : 0;
  return done;
}

void GradientExchange::State::end(std::vector<Batch> batches) {
  const Lock lock(mutex_);
  for (const auto& sum : rounds_.sums()) {
    ++layers_summed_;
    layers_contributed_ += sum.contributors.has(communicator.rank()) ? 1 : 0;
  }
  if (rounds_.takes()) {
    backlog_.clear();
  }
  note_sums();
  rounds_.end();
  if (rounds_.is_pulling()) {
    backlog_.clear();
  } else {
    std::move(batches.begin(), batches.end(), std::back_inserter(backlog_));
  }
  round_ended_ = Clock::now();
}

Result<GradientExchange> GradientExchange::create(Communicator communicator,
                                                  const std::vector<std::size_t>& layers,
                                                  std::span<float> parameters, Apply apply,
                                                  const GradientExchangeOptions& options) {
  auto owned = std::make_unique<Communicator>(std::move(communicator));
  auto exchange = over(*owned, layers, parameters, std::move(apply), options);
  if (exchange) {
    exchange->state_->owned = std::move(owned);
  }
  return exchange;
}

Result<GradientExchange> GradientExchange::over(Communicator& communicator,
                                                const std::vector<std::size_t>& layers,
                                                std::span<float> parameters, Apply apply,
                                                const GradientExchangeOptions& options) {
  if (auto checked = host::check(options, layers, parameters.size()); !checked) {
    return tl::make_unexpected(checked.error());
  }
  const auto own = host::terms_of(options, layers, parameters.size());
  auto terms = own;
  const auto bytes = std::as_writable_bytes(std::span(&terms, 1));
  const auto told =
      communicator.run_aside(call_of(Collective::broadcast, bytes.data(), bytes.data(),
                                     bytes.size(), wire::ElementType::i8, wire::Operator::sum, 0));
  if (!told) {
    return tl::make_unexpected(told.error());
  }
  RankSet differing(communicator.world_size());
  if (!own.fit(terms)) {
    differing.add(communicator.rank());
  }
  std::vector<std::uint64_t> words(differing.words().begin(), differing.words().end());
  if (auto asked = communicator.run_aside(over_words(words)); !asked) {
    return tl::make_unexpected(asked.error());
  }
  differing = RankSet(std::move(words));
  if (!differing.empty()) {
    return fail(
        Error::Code::mismatch,
        "all ranks exchange gradients of the same layers, and as many parameters: those of " +
            host::ranks_text(differing.ranks()) + " are not rank 0's");
  }
  const auto sketch = terms.sketch();
  const auto ranks = communicator.world_size();
  const auto check = [&](const Call& call) { return communicator.check_with_all(call); };
  const auto checked = (sketch ? host::sketch::check(*sketch, ranks) : Result<void>())
                           .and_then([&] { return check_lengths(layers, sketch, ranks, check); })
                           .and_then([&] { return check(from(0, parameters)); });
  if (!checked) {
    return tl::make_unexpected(checked.error());
  }
  auto row = communicator.timeline_row(host::rank_text(communicator.rank()) + " trains");
  if (!row) {
    return tl::make_unexpected(row.error());
  }
  auto state = std::make_unique<State>(communicator, layers, parameters, std::move(apply), terms,
                                       options, std::move(*row));
  auto thread = host::start_thread([state = state.get()] { state->run(); });
  if (!thread) {
    return tl::make_unexpected(thread.error());
  }
  state->thread = std::move(*thread);
  return GradientExchange(std::move(state));
}

}  // namespace tributary
