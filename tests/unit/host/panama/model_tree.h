// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "host/panama/collectives.h"
#include "reduce/kernel.h"
#include "wire/panama.h"

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
};

// Ranks in virtual time, and in place of all switches one that adds up what belongs together and
// forgets nothing. `on_wire` sees every packet and says how often it arrives.
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

  explicit ModelTree(const Options& options) : options_(options) {
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
  std::uint16_t window_cap = 64;
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
        flight.bytes.insert(flight.bytes.end(), datagram.payload.begin(), datagram.payload.end());
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

  // Until no machine runs any more, or `limit` has passed.
  void run(Duration limit = std::chrono::seconds(60)) {
    const auto end = now + limit;
    while (now < end) {
      for (std::uint32_t rank = 0; rank < size(); ++rank) {
        machines_[rank]->expire(now);
        collect(rank);
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
  struct Row {
    std::vector<bool> has;
    std::uint32_t contributions = 0;
    std::vector<std::byte> sum;  // accumulators
    wire::PanamaHeader header;
    std::vector<std::byte> result;  // once there is one: header and payload
  };
  using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint32_t>;

  void launch(PanamaFlight flight) {
    for (auto copies = on_wire(flight); copies > 0; --copies) {
      queue_.push_back(flight);
    }
  }

  void add(PanamaFlight& flight) {
    const auto view = wire::parse_panama(flight.bytes);
    if (view.error != wire::PanamaError::none) {
      return;
    }
    const auto& header = *view.header;
    auto& row = rows_[{header.epoch.value(), header.tree.value(), header.vid.value()}];
    row.has.resize(size());
    if (!row.result.empty()) {
      if (header.retransmission()) {
        answer(row, flight.rank);
      }
      return;
    }
    if (row.has[flight.rank]) {
      return;
    }
    row.has[flight.rank] = true;
    const auto& kernel = reduce::kernel(header.element_type, header.op);
    const std::size_t elements = header.elements.value();
    if (row.contributions++ == 0) {
      row.header = header;
      row.sum.resize(elements * kernel.accumulator_bytes);
      kernel.load(row.sum.data(), view.payload.data(), elements);
    } else {
      row.header.fingerprint = row.header.fingerprint.value() + header.fingerprint.value();
      kernel.accumulate(row.sum.data(), view.payload.data(), elements);
    }
    if (row.contributions >= (options_.quorum == 0 ? size() : options_.quorum)) {
      finish(row, view.payload.size());
    }
  }

  void finish(Row& row, std::size_t bytes) {
    auto& header = row.header;
    header.kind = wire::PanamaKind::result;
    header.rank = wire::PanamaHeader::no_rank;
    header.contributions = static_cast<std::uint16_t>(row.contributions);
    header.wnd_cap = window_cap;
    row.result.resize(sizeof header + bytes);
    const auto payload = wire::MutableBytes(row.result).subspan(sizeof header);
    reduce::kernel(header.element_type, header.op)
        .store(payload.data(), row.sum.data(), header.elements.value());
    seal(header, payload);
    std::memcpy(row.result.data(), &header, sizeof header);
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      answer(row, rank);
    }
  }

  void answer(const Row& row, std::uint32_t rank) {
    launch({now + delay, false, rank, row.result,
            marks(row.header) ? wire::ecn::ce : wire::ecn::ect0});
  }

  Options options_;
  std::vector<std::unique_ptr<PanamaCollectives>> machines_;
  std::map<Key, Row> rows_;
  std::deque<PanamaFlight> queue_;
};

}  // namespace tributary::host::test
