// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "fixture.h"
#include "protocols/panama/engine/config.h"

namespace tributary::panama {

// A member of a job in one tree that behaves as hosts should (Figure 5), with values that differ by
// sender and packet.
struct Worker {
  TreeConfig tree;
  std::uint16_t rank = 0;
  std::vector<std::uint32_t> epochs;  // packets in each
  bool obeys = true;                  // else as many in flight as there are

  std::uint32_t epoch = 0;
  std::uint32_t next = 0;
  std::uint32_t lowest = 0;  // without result
  std::set<std::uint32_t> results;
  double cwnd = initial_window;
  std::uint32_t received = 0;
  Time idle_since{};
  Time starts{};  // the current epoch

  bool done() const { return epoch == epochs.size(); }
  std::uint32_t window() const {
    return obeys ? static_cast<std::uint32_t>(cwnd) : std::uint32_t{1000};
  }
  std::int32_t value(std::uint32_t in_epoch, std::uint32_t vid, std::uint16_t of) const {
    return static_cast<std::int32_t>((in_epoch + 1) * 1'000'000 + vid * 100 + of * 7 + tree.job);
  }
  std::int32_t sum(std::uint32_t in_epoch, std::uint32_t vid) const {
    std::int32_t sum = 0;
    for (std::uint16_t of = 0; of < tree.workers; ++of) {
      sum += value(in_epoch, vid, of);
    }
    return sum;
  }
  std::uint64_t all_tags() const { return (1ull << tree.workers) - 1; }
};

// Switches and workers joined by cables that keep the order and may lose packets.
class Network {
 public:
  struct End {
    std::size_t node = 0;  // a switch, or switches + a worker's host
    PortIndex port = 0;
  };

  Network(std::uint32_t seed, std::uint32_t packet_memory, double loss)
      : random(seed), packet_memory_(packet_memory), loss_(loss) {}

  std::size_t add_switch(std::vector<TreeConfig> trees) {
    auto& node = switches.emplace_back();
    PanamaConfig config;
    config.packet_memory = packet_memory_;
    config.trees = std::move(trees);
    node.engine = std::make_unique<PanamaEngine>(config, self, pool);
    node.harness = std::make_unique<test::EngineHarness>(*node.engine);
    return switches.size() - 1;
  }
  void join(std::size_t a, PortIndex a_port, std::size_t b, PortIndex b_port) {
    cables_[{a, a_port}] = {b, b_port};
    cables_[{b, b_port}] = {a, a_port};
  }
  // Behind that port of a switch.
  void add_worker(Worker worker, std::size_t at, PortIndex port) {
    worker.tree.parent.reset();
    places_.push_back({at, port});
    hosts_[{at, port}].push_back(workers.size());
    worker.starts = now + std::chrono::microseconds(random() % 200);
    workers.push_back(std::move(worker));
  }

  // Puts a packet that no worker has sent on the way to that port of a switch.
  void inject(std::size_t at, PortIndex port, PacketPtr packet) {
    put({at, port}, false, std::move(packet));
  }

  // A member that does not obey the cap may stop its own job, but not others.
  bool done() const {
    std::set<std::uint32_t> hampered;
    for (const auto& worker : workers) {
      if (!worker.obeys) {
        hampered.insert(worker.tree.job);
      }
    }
    return std::all_of(workers.begin(), workers.end(), [&](const auto& worker) {
      return worker.done() || hampered.contains(worker.tree.job);
    });
  }

  // Runs until all are done, and returns false if that takes too long. Calls `check` after every
  // step.
  template <typename Check>
  bool run(Check check, Duration limit = 60s) {
    const auto end = now + limit;
    while (!done() && now < end) {
      now += 1us;
      for (std::size_t i = 0; i < workers.size(); ++i) {
        drive(i);
      }
      while (!events_.empty() && events_.begin()->first <= now) {
        auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        deliver(std::move(event));
        check();
      }
      if (events_.empty()) {
        now += 50us;
      }
    }
    return done();
  }

  struct Node {
    std::unique_ptr<PanamaEngine> engine;
    std::unique_ptr<test::EngineHarness> harness;
  };
  HeapPacketPool pool{16384, 512};
  std::vector<Node> switches;
  std::vector<Worker> workers;
  Time now = Time{} + 1000s;
  std::mt19937 random;
  std::uint64_t wrong = 0;

 private:
  using Place = std::pair<std::size_t, PortIndex>;
  struct Event {
    Place to;  // a switch's port; or from a switch to the hosts behind its port
    bool to_host = false;
    PacketPtr packet;
  };

  void put(Place from, bool to_host, PacketPtr packet) {
    if (std::uniform_real_distribution<>(0, 1)(random) < loss_) {
      return;
    }
    auto& last = last_[{from, to_host}];
    last = std::max(last + 100ns, now + 2us + std::chrono::nanoseconds(random() % 20'000));
    events_.emplace(last, Event{from, to_host, std::move(packet)});
  }

  void send(std::size_t index, std::uint32_t vid, bool again) {
    auto& worker = workers[index];
    auto spec = from(worker.tree, places_[index].second, vid);
    spec.rank = worker.rank;
    spec.epoch = worker.epoch;
    spec.fin = vid + 1 == worker.epochs[worker.epoch];
    spec.retransmission = again;
    spec.fingerprint = 1ull << worker.rank;
    put(places_[index], false,
        test::make_panama(pool, spec, Ints{worker.value(worker.epoch, vid, worker.rank)}));
  }

  void drive(std::size_t index) {
    auto& worker = workers[index];
    if (worker.done() || now < worker.starts) {
      return;
    }
    const auto count = worker.epochs[worker.epoch];
    for (; worker.next < count && worker.next < worker.lowest + worker.window(); ++worker.next) {
      worker.idle_since = now;
      send(index, worker.next, false);
    }
    if (worker.lowest < worker.next && now - worker.idle_since > 10ms) {
      worker.idle_since = now;
      for (auto vid = worker.lowest; vid < worker.next; ++vid) {
        if (!worker.results.contains(vid)) {
          send(index, vid, true);
        }
      }
    }
  }

  void deliver(Event event) {
    if (event.to_host) {
      for (const auto index : hosts_[event.to]) {
        receive(workers[index], *event.packet);
      }
      return;
    }
    event.packet->ingress = event.to.second;
    const auto at = event.to.first;
    for (auto& sent : switches[at].harness->process(std::move(event.packet), now)) {
      const auto cable = cables_.find({at, sent.port});
      if (cable != cables_.end()) {
        put({cable->second.node, cable->second.port}, false, std::move(sent.packet));
      } else {
        put({at, sent.port}, true, std::move(sent.packet));
      }
    }
  }

  void receive(Worker& worker, Packet& packet) {
    const auto frame = engine::parse_frame(packet);
    const auto view = wire::parse_panama(frame.payload);
    const auto& header = *view.header;
    const auto vid = header.vid.value();
    if (header.kind == wire::PanamaKind::inquiry) {
      return answer(worker, header);
    }
    if (view.error != wire::PanamaError::none || header.job.value() != worker.tree.job ||
        header.tree.value() != worker.tree.tree || worker.done() ||
        header.epoch.value() != worker.epoch || worker.results.contains(vid)) {
      return;
    }
    const auto expected = worker.sum(worker.epoch, vid);
    std::int32_t value = 0;
    std::memcpy(&value, view.payload.data(), sizeof value);
    wrong +=
        value != expected || header.fingerprint.value() != worker.all_tags() || vid >= worker.next;
    worker.idle_since = now;
    worker.results.insert(vid);
    while (worker.results.contains(worker.lowest)) {
      ++worker.lowest;
    }
    widen(worker, header.wnd_cap.value());
    if (worker.lowest == worker.epochs[worker.epoch]) {
      start_next_epoch(worker);
    }
  }

  // Workers that have the result that is asked for send it.
  void answer(const Worker& worker, const wire::PanamaHeader& about) {
    const auto epoch = about.epoch.value();
    const auto vid = about.vid.value();
    const bool has_it =
        epoch < worker.epoch || (epoch == worker.epoch && worker.results.contains(vid));
    if (about.job.value() != worker.tree.job || about.tree.value() != worker.tree.tree || !has_it) {
      return;
    }
    const auto& place = places_[static_cast<std::size_t>(&worker - workers.data())];
    auto spec = as_result(from(worker.tree, place.second, vid));
    spec.ingress = place.second;
    spec.epoch = epoch;
    spec.fin = vid + 1 == worker.epochs[epoch];
    spec.fingerprint = worker.all_tags();
    spec.wnd_cap = initial_window;
    put(place, false, test::make_panama(pool, spec, Ints{worker.sum(epoch, vid)}));
  }

  static void widen(Worker& worker, std::uint16_t cap) {
    if (++worker.received >= static_cast<std::uint32_t>(worker.cwnd)) {
      worker.received = 0;
      worker.cwnd *= 2;
    }
    worker.cwnd = std::max(1.0, std::min<double>(worker.cwnd, cap));
  }
  void start_next_epoch(Worker& worker) {
    ++worker.epoch;
    worker.next = worker.lowest = worker.received = 0;
    worker.results.clear();
    worker.cwnd = initial_window;
    worker.starts = now + std::chrono::microseconds(random() % 300);
  }

  std::uint32_t packet_memory_;
  double loss_;
  std::map<Place, End> cables_;
  std::vector<Place> places_;                        // of workers
  std::map<Place, std::vector<std::size_t>> hosts_;  // workers behind a port
  std::map<std::pair<Place, bool>, Time> last_;      // of each cable, one way
  std::multimap<Time, Event> events_;
};

}  // namespace tributary::panama
