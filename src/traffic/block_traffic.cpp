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
    const auto line_bytes = line_bytes_of(*packet);
    pacer.charge(line_bytes);
    if (!closed_) {  // then it is not sent in the time that is measured
      ++counters_.packets;
      counters_.line_bytes += line_bytes;
    }
    out[port].push(std::move(packet));
  }
}

void BlockTraffic::receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) {
  while (auto packet = arrivals.pop()) {
    arrived(std::move(packet), port, now, out);
  }
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

void BlockTraffic::begin_epoch() {
  ++trial_;
  closed_ = false;
  counters_ = {};
  latency_.clear();
  clear_figures();
}

void BlockTraffic::count_begun() {
  ++in_flight_;
  ++counters_.begun;
}

void BlockTraffic::count_done(std::uint32_t trial, Time since, Time now) {
  if (trial == trial_) {
    ++counters_.done;
    latency_.record(static_cast<std::uint64_t>((now - since).count()));
  }
}

}  // namespace tributary::traffic
