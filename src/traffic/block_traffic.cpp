// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/block_traffic.h"

#include <utility>

namespace tributary::traffic {
namespace {

constexpr int looks_per_timeout = 8;

}  // namespace

void BlockTraffic::send(std::size_t most, Time now, Pacer& pacer, Outbox& out) {
  for (; most > 0 && pacer.ready() && has_contribution(); --most) {
    auto [packet, port] = next_contribution(now);
    if (packet == nullptr) {
      ++counters_.no_buffer;
      return;
    }
    charge(*packet, pacer);
    out[port].push(std::move(packet));
  }
}

void BlockTraffic::receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) {
  while (auto packet = arrivals.pop()) {
    arrived(std::move(packet), port, now, out);
  }
}

bool BlockTraffic::has_contribution() {
  for (std::size_t tried = 0; !is_sending_ && tried < jobs_; ++tried) {
    sending_ = next_job_;
    next_job_ = next_job_ + 1 == jobs_ ? 0 : next_job_ + 1;
    is_sending_ = begin_blocks(sending_);
  }
  return is_sending_;
}

Time BlockTraffic::deadline() const {
  return in_flight_ == 0 ? never : checked_ + block_timeout_ / looks_per_timeout;
}

bool BlockTraffic::looks_now(Time now) {
  if (now < deadline()) {
    return false;
  }
  checked_ = now;
  return true;
}

void BlockTraffic::epoch_begins() {
  ++trial_;
  common_ = {};
  clear_figures();
}

BlockTraffic::OpenBlock BlockTraffic::opened(std::uint32_t workers) {
  ++in_flight_;
  ++counters_.begun;
  return {.open = true, .trial = trial_, .waiting = ~std::uint64_t{0} >> (64 - workers)};
}

// Workers count whatever comes, also when nobody waits for it any more.
bool BlockTraffic::note_result(OpenBlock& block, bool is_of_block, std::uint32_t rank) {
  ++common_.results;
  if (!block.open || !is_of_block) {
    ++counters_.late;
    return false;
  }
  if ((block.waiting & bit(rank)) == 0) {
    ++common_.duplicates;
    return false;
  }
  block.waiting &= ~bit(rank);
  return true;
}

void BlockTraffic::count_done(const OpenBlock& block, Time now) {
  if (is_of_trial(block)) {
    ++counters_.done;
    latency_.record(static_cast<std::uint64_t>((now - block.since).count()));
  }
}

void BlockTraffic::mark_closed(OpenBlock& block) {
  block.open = false;
  --in_flight_;
}

}  // namespace tributary::traffic
