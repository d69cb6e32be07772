// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "model_root.h"
#include "protocols/panama/host/collectives.h"
#include "protocols/panama/wire.h"

namespace tributary::host::test {

// A packet between a rank and the model, as bytes.
struct PanamaFlight {
  Time arrival{};
  bool up = true;
  std::uint32_t rank = 0;  // whose it is, or for whom
  std::vector<std::byte> bytes;
  std::uint8_t ecn = 0;

  wire::PanamaHeader& header() { return *reinterpret_cast<wire::PanamaHeader*>(bytes.data()); }
  const wire::PanamaHeader& header() const {
    return *reinterpret_cast<const wire::PanamaHeader*>(bytes.data());
  }
  wire::MutableBytes mask() { return wire::MutableBytes(bytes).last(header().mask_bytes()); }
  // Seals it again after a test has changed it.
  void seal() { wire::seal(header(), wire::Bytes(bytes).subspan(sizeof(wire::PanamaHeader))); }
};

// Ranks and a model of their switches in virtual time. `on_wire` sees every packet and says how
// often it arrives.
class ModelTree {
 public:
  struct Options {
    std::uint32_t ranks = 2;
    std::uint32_t trees = 1;
    std::uint32_t payload_bytes = 64;
    bool congestion_control = true;
    std::uint32_t quorum = 0;
    std::uint32_t window_max = 64;
  };

  explicit ModelTree(const Options& options)
      : root(options.ranks, options.quorum == 0 ? options.ranks : options.quorum),
        options_(options) {
    PanamaPlan plan;
    for (std::uint32_t tree = 0; tree < options.trees; ++tree) {
      plan.trees.emplace_back(0xefc00001u + tree);
    }
    plan.congestion_control = options.congestion_control;
    plan.quorum = options.quorum;
    plan.window_max = options.window_max;
    Job job;
    job.id = 7;
    job.key = {1, 2, 3};
    job.payload_bytes = options.payload_bytes;
    job.peers.resize(options.ranks);
    for (job.rank = 0; job.rank < options.ranks; ++job.rank) {
      machines_.push_back(std::make_unique<PanamaCollectives>(job, plan));
    }
  }

  PanamaCollectives& operator[](std::uint32_t rank) { return *machines_[rank]; }
  std::uint32_t size() const { return options_.ranks; }

  std::function<unsigned(const PanamaFlight&)> on_wire = [](const PanamaFlight&) { return 1; };
  std::function<bool(const wire::PanamaHeader&)> marks = [](const wire::PanamaHeader&) {
    return false;
  };
  ModelRoot root;
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
        PanamaFlight flight{now + delay, true, rank, {}, 0};
        flight.bytes.assign(datagram.header().begin(), datagram.header().end());
        for (const auto part : {datagram.payload, datagram.trailer()}) {
          flight.bytes.insert(flight.bytes.end(), part.begin(), part.end());
        }
        launch(std::move(flight));
      }
    }
  }

  void deliver() {
    auto flight = std::move(queue_.front());
    queue_.pop_front();
    if (flight.up) {
      return add(flight);
    }
    const Arrival arrival{flight.bytes, flight.ecn};
    machines_[flight.rank]->receive({&arrival, 1}, now);
  }

  // Runs until no machine runs any more, or `limit` has passed.
  void run(Duration limit = std::chrono::seconds(60)) {
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

  std::deque<PanamaFlight>& queue() { return queue_; }

 private:
  void launch(PanamaFlight flight) {
    for (auto copies = on_wire(flight); copies > 0; --copies) {
      queue_.push_back(flight);
    }
  }

  void add(PanamaFlight& flight) {
    const auto answer = root.add(flight.bytes);
    for (std::uint32_t rank = 0; answer.result != nullptr && rank < size(); ++rank) {
      if (answer.to_all || rank == flight.rank) {
        PanamaFlight down{now + delay, false, rank, *answer.result, wire::ecn::ect0};
        down.ecn = marks(down.header()) ? wire::ecn::ce : wire::ecn::ect0;
        launch(std::move(down));
      }
    }
  }

  Options options_;
  std::vector<std::unique_ptr<PanamaCollectives>> machines_;
  std::deque<PanamaFlight> queue_;
};

}  // namespace tributary::host::test
