// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "packet/list.h"
#include "packet/pool.h"
#include "switch/switch.h"

namespace tributary::perf {

// One core's share of a switch, driven as the data plane does, in virtual time and without devices.
class Device {
 public:
  static constexpr std::size_t burst = 32;

  Device(const switching::SwitchConfig& config, std::size_t packets,
         switching::CoreShare share = {})
      : pool_(packets, frame_bytes_max), switch_(config, share, pool_) {
    out_.departures.reserve(config.ports.size());
  }

  PacketPool& pool() { return pool_; }
  const switching::Switch& logical() const { return switch_; }

  // What a packet costs: a burst goes in, timers run where they are due.
  void process(PacketList packets) {
    switch_.receive(std::move(packets), now_, out_);
    if (switch_.deadline() <= now_) {
      switch_.expire(now_, out_);
    }
  }

  // Partial sums that another core has handed over.
  void merge(PacketList sums) { switch_.merge(std::move(sums), now_, out_); }
  // What was handed to the other core since it was asked for.
  PacketList partial_sums() {
    PacketList sums;
    out_.partial_sums.drain(
        [&](std::uint32_t /*core*/, PacketList run) { sums.append(std::move(run)); });
    return sums;
  }

  // Between bursts: time passes, what has left is freed.
  void settle(Duration by = std::chrono::nanoseconds(100) * burst) {
    now_ += by;
    out_.departures.drain([](std::uint32_t /*port*/, const PacketList& /*run*/) {});
    out_.table_updates.clear();
    out_.passed_on.drain([](std::uint32_t /*core*/, const PacketList& /*run*/) {});
  }

 private:
  static constexpr std::uint32_t frame_bytes_max = 2048;

  HeapPacketPool pool_;
  switching::Switch switch_;
  switching::Output out_;
  Time now_ = Time{} + std::chrono::seconds(1000);
};

}  // namespace tributary::perf
