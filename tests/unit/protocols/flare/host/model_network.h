// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "model_sparse_switch.h"
#include "model_switch.h"
#include "protocols/flare/host/collectives.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/wire.h"

namespace tributary::host::test {

// A packet between a rank and the model, as bytes.
struct FlareFlight {
  Time arrival{};
  bool up = true;
  std::uint32_t rank = 0;  // whose it is, or for whom
  std::vector<std::byte> bytes;

  wire::FlareHeader& header() { return *reinterpret_cast<wire::FlareHeader*>(bytes.data()); }
  const wire::FlareHeader& header() const {
    return *reinterpret_cast<const wire::FlareHeader*>(bytes.data());
  }
  bool is_sparse() const { return wire::is_flare_sparse(bytes); }
  // Precondition: it is a sparse packet with a whole header.
  wire::FlareSparseHeader& sparse_header() {
    return *reinterpret_cast<wire::FlareSparseHeader*>(bytes.data());
  }
  const wire::FlareSparseHeader& sparse_header() const {
    return *reinterpret_cast<const wire::FlareSparseHeader*>(bytes.data());
  }
  // These are for dense and sparse packets, whose headers begin alike.
  bool is_contribution() const { return up && header().kind == wire::FlareKind::contribution; }
  bool is_result() const { return !up && header().kind == wire::FlareKind::result; }
};

// Ranks and a model of their switches in virtual time. `on_wire` sees every packet and says how
// often it arrives, `late` how much later than others; `on_arrival` sees those for ranks when they
// come.
class FlareModel {
 public:
  struct Options {
    std::uint32_t ranks = 2;
    std::uint32_t payload_bytes = 64;
    std::uint32_t window = 16;
    std::uint32_t sparse_window = 0;
  };

  explicit FlareModel(const Options& options)
      : tree(options.ranks), sparse_tree(options.ranks), options_(options) {
    const FlarePlan plan{wire::Ipv4Address(0xefc00001u), options.window, options.sparse_window};
    Job job;
    job.id = 7;
    job.key = {1, 2, 3};
    job.payload_bytes = options.payload_bytes;
    job.window = options.window;
    job.peers.resize(options.ranks);
    for (job.rank = 0; job.rank < options.ranks; ++job.rank) {
      machines_.push_back(std::make_unique<FlareCollectives>(job, plan));
    }
  }

  FlareCollectives& operator[](std::uint32_t rank) { return *machines_[rank]; }
  std::uint32_t size() const { return options_.ranks; }

  std::function<unsigned(const FlareFlight&)> on_wire = [](const FlareFlight&) { return 1; };
  std::function<Duration()> late = [] { return Duration{}; };
  std::function<void(const FlareFlight&)> on_arrival = [](const FlareFlight&) {};
  FlareModelSwitch tree;
  SparseModelSwitch sparse_tree;  // its sparse blocks
  void forget() {
    tree.forget();
    sparse_tree.forget();
  }
  Time now{std::chrono::seconds(1)};
  static constexpr Duration delay = std::chrono::microseconds(50);

  // Takes what `rank` wants sent.
  void collect(std::uint32_t rank) {
    Outbox outbox(3);  // small, so that machines have to stop and go on
    for (;;) {
      machines_[rank]->poll(outbox, now);
      if (outbox.empty()) {
        return;
      }
      for (; !outbox.empty(); outbox.pop()) {
        const auto& datagram = outbox.front();
        FlareFlight flight{{}, true, rank, {}};
        flight.bytes.assign(datagram.header().begin(), datagram.header().end());
        flight.bytes.insert(flight.bytes.end(), datagram.payload.begin(), datagram.payload.end());
        launch(flight);
      }
    }
  }

  void deliver() {
    auto flight = std::move(queue_.front());
    queue_.pop_front();
    if (flight.up) {
      return deliver_up(flight);
    }
    on_arrival(flight);
    const Arrival arrival{flight.bytes};
    machines_[flight.rank]->receive({&arrival, 1}, now);
  }

  // Runs until no machine runs any more, or `limit` has passed.
  void run(Duration limit = std::chrono::hours(1)) {
    const auto end = now + limit;
    for (;;) {
      for (std::uint32_t rank = 0; rank < size(); ++rank) {
        machines_[rank]->expire(now);
        collect(rank);
      }
      if (now >= end) {
        return;
      }
      auto next = queue_.empty() ? never : queue_.front().arrival;
      for (auto& machine : machines_) {
        next = std::min(next, machine->deadline());
      }
      if (next == never) {
        return;
      }
      now = std::min(std::max(now, next), end);
      while (!queue_.empty() && queue_.front().arrival <= now) {
        deliver();
      }
    }
  }

  std::deque<FlareFlight>& queue() { return queue_; }

 private:
  void launch(FlareFlight flight) {
    const auto due = now + delay;
    flight.arrival = due;
    for (auto copies = on_wire(flight); copies > 0; --copies) {
      flight.arrival = due + late();
      const auto behind = std::upper_bound(
          queue_.begin(), queue_.end(), flight.arrival,
          [](Time arrival, const FlareFlight& other) { return arrival < other.arrival; });
      queue_.insert(behind, flight);
    }
  }

  void deliver_up(FlareFlight& flight) {
    if (flight.is_sparse()) {
      for (const auto& answer : sparse_tree.take(flight.rank, flight.bytes)) {
        for (const auto rank : answer.ranks) {
          launch({{}, false, rank, answer.bytes});
        }
      }
      return;
    }
    const auto answer = tree.take(flight.rank, flight.bytes);
    for (const auto rank : answer.ranks) {
      launch({{}, false, rank, answer.bytes});
    }
  }

  Options options_;
  std::vector<std::unique_ptr<FlareCollectives>> machines_;
  std::deque<FlareFlight> queue_;  // by arrival
};

}  // namespace tributary::host::test
