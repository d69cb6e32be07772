// SPDX-License-Identifier: BSD-3-Clause
#include "host/training/gradient_exchange.h"

#include <utility>

#include "host/training/exchange_state.h"

namespace tributary {

GradientExchange::GradientExchange(std::unique_ptr<State> state) : state_(std::move(state)) {}
GradientExchange::GradientExchange(GradientExchange&&) noexcept = default;
GradientExchange& GradientExchange::operator=(GradientExchange&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
GradientExchange::~GradientExchange() {
  if (!state_) {
    return;
  }
  try {
    (void)state_->close();
  } catch (...) {  // `apply` threw: this rank cannot go on, and the others must not wait
    state_->communicator.abort();
  }
}

Result<std::uint64_t> GradientExchange::enter() {
  return state_->enter();
}
Result<void> GradientExchange::offer(std::size_t layer, std::span<const float> gradient) {
  return state_->offer(layer, gradient);
}
Result<bool> GradientExchange::finish() {
  return state_->finish();
}
Result<void> GradientExchange::close() {
  return state_->close();
}
GeiMatrix GradientExchange::gei() const {
  return state_->gei();
}
Figures GradientExchange::statistics() const {
  return state_->figures();
}
Communicator& GradientExchange::communicator() {
  return state_->communicator;
}

}  // namespace tributary
