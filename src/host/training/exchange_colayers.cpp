// SPDX-License-Identifier: BSD-3-Clause
// This part of an exchange measures what sums cost, and forms colayers, in its thread.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "host/call.h"
#include "host/training/exchange_state.h"

namespace tributary {
namespace {

using host::Call;
using host::Clock;
using host::Collective;

Call latest_of_all(std::span<std::int64_t> times) {
  return host::call_of(Collective::allreduce, times.data(), times.data(), times.size(),
                       wire::ElementType::i64, wire::Operator::max);
}

std::uint32_t microseconds(host::Duration duration) {
  const auto count = std::chrono::ceil<std::chrono::microseconds>(duration).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(count, 0, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

// Notes for how long this rank waited for the sums of the round that ends: since it offered the
// last of their gradients, or since the sums before were there, which went first. What the round's
// own words took is in that, and so is a wait for ranks that came late to the round. The caller
// holds the lock.
void GradientExchange::State::note_sums() {
  const auto now = Clock::now();
  auto began = sums_ended_;
  bool is_in = false;
  summed_ = 0;
  for (const auto& sum : rounds_.sums()) {
    summed_ += elements(sum.layer);
    if (sum.contributors.has(communicator.rank())) {
      is_in = true;
      began = std::max(began, offered_at_[sum.layer]);
    }
  }
  waited_us_ = is_in ? microseconds(now - began) : 0;
  sums_ended_ = summed_ != 0 ? now : sums_ended_;
}

// With BSP a layer moves when the last rank has its gradient: all ranks take the latest times. What
// sums cost all ranks have heard alike. So they form the same colayers.
Result<void> GradientExchange::State::form_colayers() {
  Lock lock(mutex_);
  auto ready_ns = colayers_.ready_ns();
  if (closed_) {  // nobody waits for its gradients any more
    ready_ns.assign(ready_ns.size(), 0);
  }
  lock.unlock();
  if (rounds_.is_together()) {
    if (auto told = communicator.run_aside(latest_of_all(ready_ns)); !told) {
      return told;
    }
  }
  std::vector<std::size_t> sizes;
  for (std::size_t layer = 0; layer < ready_ns.size(); ++layer) {
    sizes.push_back(elements(layer));
  }
  auto groups = host::groups_of(ready_ns, sizes, sum_times_.cost());
  sum_times_.grow_old();
  lock.lock();
  regroupings_ += colayers_.form(std::move(groups), rounds_.colayers_from()) ? 1 : 0;
  return {};
}

}  // namespace tributary
