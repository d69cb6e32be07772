// SPDX-License-Identifier: BSD-3-Clause
#include "packet_loop.h"

#include <algorithm>
#include <ctime>
#include <sys/prctl.h>
#include <utility>

#include "dataplane/driver_memory.h"

namespace tributary::pktgen {
namespace {

constexpr Duration flush_patience = std::chrono::milliseconds(100);

Time read_clock() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);  // reads the TSC, without a system call
  return Time(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
}

}  // namespace

PacketLoop::PacketLoop(traffic::Session& session, const Devices& devices, PacketPool& pool,
                       control::IdlePolicy idle)
    : session_(session),
      devices_(devices),
      pool_(pool),
      idle_(idle),
      outbox_(devices.size()),
      counters_(devices.size()) {}

void PacketLoop::run() {
  prctl(PR_SET_TIMERSLACK, 1UL);  // nanosecond: sleeps end when they should
  const dataplane::DriverUser user(0);
  while (!session_.done()) {
    const Time now = read_clock();
    user.between_bursts();
    mailbox_.serve(now);
    bool worked = receive(now);
    // What the devices have not taken yet goes first.
    session_.run(transmit(now) ? dataplane::DeviceQueue::burst : 0, now, outbox_);
    for (const auto& queue : outbox_) {
      worked |= !queue.empty();
    }
    transmit(now);
    const Duration sleep = idle_.after_round(worked, now, session_.deadline());
    if (sleep > Duration::zero()) {
      rest(sleep);
    }
  }
  flush();
  done_.store(true, std::memory_order_release);
}

bool PacketLoop::receive(Time now) {
  bool worked = false;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    PacketList arrivals;
    const auto count = devices_[i]->queue(0).receive(pool_, static_cast<PortIndex>(i), arrivals);
    if (count == 0) {
      continue;
    }
    worked = true;
    for (const auto* packet = arrivals.front(); packet != nullptr; packet = packet->next) {
      counters_[i].received_line_bytes += traffic::line_bytes_of(*packet);
    }
    counters_[i].received += arrivals.size();
    session_.receive(std::move(arrivals), i, now, outbox_);
  }
  return worked;
}

// Returns whether all that was to leave has been handed to the devices.
bool PacketLoop::transmit(Time now) {
  bool all = true;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    auto& device = devices_[i]->queue(0);
    auto& queue = outbox_[i];
    while (!queue.empty() || device.waiting()) {
      PacketList batch = take(queue, device.room(), counters_[i]);
      if (device.transmit(batch, now) == 0) {
        break;
      }
    }
    all = all && queue.empty() && !device.waiting();
  }
  return all;
}

PacketList PacketLoop::take(PacketList& queue, std::size_t most, PortCounters& counters) {
  PacketList batch;
  for (; most > 0 && !queue.empty(); --most) {
    auto packet = queue.pop();
    ++counters.sent;
    counters.sent_line_bytes += traffic::line_bytes_of(*packet);
    batch.push(std::move(packet));
  }
  return batch;
}

// Sends what answers the last packets that came.
void PacketLoop::flush() {
  const Time end = read_clock() + flush_patience;
  for (Time now = read_clock(); !transmit(now) && now < end; now = read_clock()) {
  }
}

void PacketLoop::rest(Duration duration) {
  const timespec time = {0, static_cast<long>(duration.count())};  // below one second
  nanosleep(&time, nullptr);                                       // a signal only ends it early
}

std::vector<PortCounters> PacketLoop::counters() const {
  auto counters = counters_;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    const auto& device = devices_[i]->queue(0);
    counters[i].unsent = device.dropped();
    counters[i].missed = device.refused();
  }
  return counters;
}

std::vector<PortCounters> with_losses(std::vector<PortCounters> counters,
                                      const PacketLoop::Devices& devices) {
  for (std::size_t i = 0; i < counters.size(); ++i) {
    auto& port = counters[i];
    const auto losses = devices[i]->losses();
    port.unsent = std::min(port.unsent + losses.unsent, port.sent);
    if (port.sent > 0) {  // which ones they were is not known
      port.sent_line_bytes -= port.sent_line_bytes / port.sent * port.unsent;
    }
    port.sent -= port.unsent;
    port.missed += losses.missed;
  }
  return counters;
}

}  // namespace tributary::pktgen
