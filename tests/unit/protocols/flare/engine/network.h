// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "fixture.h"

namespace tributary::flare {

// A rank of a job, as hosts are to behave, with values that tell who sent what.
struct Rank {
  TreeConfig tree;  // of the switch that it is at
  std::uint16_t number = 0;
  std::uint64_t blocks = 0;  // of the run

  std::uint32_t run = 0;
  std::uint64_t next = 0;    // not sent yet
  std::uint64_t lowest = 0;  // without result
  std::set<std::uint64_t> results;
  Time idle_since{};
  Time starts{};

  bool done() const { return lowest == blocks; }
  std::int32_t value(std::uint64_t block, std::uint16_t of) const {
    return static_cast<std::int32_t>(run * 1'000'000 + block * 100 + of * 7u + 1);
  }
  std::int32_t sum(std::uint64_t block) const {
    std::int32_t sum = 0;
    for (std::uint16_t of = 0; of < tree.workers; ++of) {
      sum += value(block, of);
    }
    return sum;
  }
  std::uint64_t all_tags() const { return (1ull << tree.workers) - 1; }
};

// Two levels of switches with the ranks of one job, joined by cables that keep the order and may
// lose packets. Switches may start anew at any time.
class Network {
 public:
  Network(std::uint32_t seed, double loss, bool reproducible) : random(seed), loss_(loss) {
    auto root = root_of(leaves);
    root.workers = root.workers_below = leaves * ranks_per_leaf;
    auto leaf = leaf_of(ranks_per_leaf, root.workers);
    root.reproducible = leaf.reproducible = reproducible;
    add_switch(root);
    for (PortIndex port = 0; port < leaves; ++port) {
      const auto at = add_switch(leaf);
      cables_[{at, parent_port}] = {0, port};
      cables_[{0, port}] = {at, parent_port};
      for (PortIndex host = 0; host < ranks_per_leaf; ++host) {
        add_rank(leaf, {at, host});
      }
    }
  }

  // The ranks meet, and reduce so many blocks.
  void begin_run(std::uint32_t run, std::uint64_t blocks) {
    for (auto& rank : ranks) {
      rank.run = run;
      rank.blocks = blocks;
      rank.next = rank.lowest = 0;
      rank.results.clear();
      rank.starts = now + std::chrono::microseconds(random() % 300);
    }
  }
  // A switch forgets all it knows.
  void restart(std::size_t at) { start(switches.at(at)); }

  // Until all are done; false if that takes too long. `between` every now and then.
  template <typename Between>
  bool run(Between between, Duration limit = 60s) {
    const auto end = now + limit;
    while (!done() && now < end) {
      now += events_.empty() ? 50us : 1us;
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        drive(i);
      }
      while (!events_.empty() && events_.begin()->first <= now) {
        auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        deliver(std::move(event));
      }
      between();
    }
    return done();
  }
  bool done() const {
    return std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.done(); });
  }

  static constexpr std::uint16_t leaves = 2;
  static constexpr std::uint16_t ranks_per_leaf = 3;

  struct Node {
    FlareConfig config;
    std::unique_ptr<FlareEngine> engine;
    std::unique_ptr<test::EngineHarness> harness;
  };
  HeapPacketPool pool{4096, 512};
  std::vector<Node> switches;
  std::vector<Rank> ranks;
  Time now = Time{} + 1000s;
  std::mt19937 random;
  std::uint64_t wrong = 0;

 private:
  using Place = std::pair<std::size_t, PortIndex>;  // a switch's port
  struct Event {
    Place to;
    bool to_host = false;  // from the switch to the host behind its port
    PacketPtr packet;
  };

  std::size_t add_switch(const TreeConfig& tree) {
    auto& node = switches.emplace_back();
    node.config.trees = {tree};
    start(node);
    return switches.size() - 1;
  }
  void start(Node& node) {
    node.harness.reset();
    node.engine = std::make_unique<FlareEngine>(node.config, self, pool);
    node.harness = std::make_unique<test::EngineHarness>(*node.engine);
  }
  void add_rank(const TreeConfig& leaf, const Place& place) {
    Rank rank;
    rank.tree = leaf;
    rank.number = static_cast<std::uint16_t>(ranks.size());
    rank_at_[place] = ranks.size();
    places_.push_back(place);
    ranks.push_back(std::move(rank));
  }

  void put(const Place& to, bool to_host, PacketPtr packet) {
    if (std::uniform_real_distribution<>(0, 1)(random) < loss_) {
      return;
    }
    auto& last = last_[{to, to_host}];
    last = std::max(last + 100ns, now + 2us + std::chrono::nanoseconds(random() % 20'000));
    events_.emplace(last, Event{to, to_host, std::move(packet)});
  }

  FlareSpec spec_of(std::size_t index, std::uint64_t block) {
    const auto& rank = ranks[index];
    auto spec = of_run(from(rank.tree, places_[index].second, block), rank.run);
    spec.fingerprint = 1ull << rank.number;
    return spec;
  }
  void contribute(std::size_t index, std::uint64_t block, bool again, bool answer) {
    auto spec = spec_of(index, block);
    spec.retransmission = again;
    spec.answer = answer;
    const auto& rank = ranks[index];
    put(places_[index], false, test::make_flare(pool, spec, Ints{rank.value(block, rank.number)}));
  }

  void drive(std::size_t index) {
    auto& rank = ranks[index];
    if (rank.done() || now < rank.starts) {
      return;
    }
    const auto end = std::min(rank.blocks, rank.lowest + rank.tree.window);
    for (; rank.next < end; ++rank.next) {
      rank.idle_since = now;
      contribute(index, rank.next, false, false);
    }
    if (now - rank.idle_since > 10ms) {
      rank.idle_since = now;
      for (auto block = rank.lowest; block < rank.next; ++block) {
        if (!rank.results.contains(block)) {
          contribute(index, block, true, false);
        }
      }
    }
  }

  void deliver(Event event) {
    const auto [at, port] = event.to;
    if (event.to_host) {
      return receive(rank_at_.at(event.to), *event.packet);
    }
    event.packet->ingress = port;
    for (auto& sent : switches[at].harness->process(std::move(event.packet), now)) {
      const Place out{at, sent.port};
      const auto cable = cables_.find(out);
      if (cable != cables_.end()) {
        put(cable->second, false, std::move(sent.packet));
      } else {
        put(out, true, std::move(sent.packet));
      }
    }
  }

  void receive(std::size_t index, Packet& packet) {
    auto& rank = ranks[index];
    const auto frame = engine::parse_frame(packet);
    const auto view = wire::parse_flare(frame.payload);
    if (view.error != wire::FlareError::none || view.header->run.value() != rank.run) {
      return;
    }
    const auto& header = *view.header;
    const auto block = header.block.value();
    if (header.kind == FlareKind::inquiry) {
      return answer(index, block);
    }
    const bool known = block < rank.lowest || rank.results.contains(block);
    std::int32_t value = 0;
    std::memcpy(&value, view.payload.data(), sizeof value);
    wrong += value != rank.sum(block) || header.fingerprint.value() != rank.all_tags() ||
             header.kind != FlareKind::result || block >= rank.next;
    if (known) {
      return;
    }
    rank.idle_since = now;
    rank.results.insert(block);
    while (rank.results.contains(rank.lowest)) {
      ++rank.lowest;
    }
  }

  void answer(std::size_t index, std::uint64_t block) {
    const auto& rank = ranks[index];
    if (rank.results.contains(block)) {
      auto spec = as_result(spec_of(index, block), places_[index].second);
      spec.answer = true;
      spec.fingerprint = rank.all_tags();
      put(places_[index], false, test::make_flare(pool, spec, Ints{rank.sum(block)}));
    } else if (block < rank.next) {
      contribute(index, block, true, true);
    }
  }

  double loss_;
  std::map<Place, Place> cables_;
  std::vector<Place> places_;             // of ranks
  std::map<Place, std::size_t> rank_at_;  // behind a port
  std::map<std::pair<Place, bool>, Time> last_;
  std::multimap<Time, Event> events_;
};

}  // namespace tributary::flare
