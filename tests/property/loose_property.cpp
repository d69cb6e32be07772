// SPDX-License-Identifier: BSD-3-Clause
// Runs loosely synchronised ranks in random schedules, one for each seed from FIRST to LAST
// (`loose_property FIRST LAST`). The ranks in each sum, and the matrix of whose gradients were in
// sums, have to be those of an independent model, no rank may be further ahead than the staleness
// allows, every replica has to be made of the same sums, and every schedule has to end.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "host/loose/rounds.h"
#include "property/loose_model.h"

namespace {

using namespace tributary;
using host::LooseRule;
using host::Rounds;
using test::Gradient;
using test::LooseModel;

// A hash of all sums so far, in their order.
using Replica = std::uint64_t;
constexpr std::uint64_t always = 1'000'000'000;

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw std::runtime_error(what);
  }
}

Replica with(Replica replica, std::uint64_t sum) {
  return (replica ^ sum) * 0x9E3779B97F4A7C15u + 1;
}

std::uint64_t value_of(const Gradient& gradient) {
  return with(with(gradient.rank + 1, gradient.iteration), gradient.layer);
}

struct Worker {
  Worker(Rounds given, std::uint64_t wanted) : rounds(std::move(given)), iterations(wanted) {}

  Rounds rounds;
  std::uint64_t iterations;  // to be made
  std::uint64_t made = 0;
  std::uint64_t iteration = 0;
  bool closed = false;
  bool resting = false;
  Replica replica = 0;
  std::vector<std::uint64_t> backlog;  // sums
  std::uint32_t weight = 1;            // how fast it is

  bool at_rest() const { return resting && backlog.empty(); }
};

class Schedule {
 public:
  explicit Schedule(std::uint64_t seed);
  void run();

 private:
  static LooseRule any_rule(std::mt19937_64& random, std::size_t layers);
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::vector<std::uint32_t> any_order();
  void any_steps();
  void step(std::uint32_t rank);
  void arrive(Worker& worker);
  void enter(std::uint32_t rank);
  void offer(std::uint32_t rank);
  void round();
  void put_together(std::vector<std::uint64_t>& together);
  void check_sums();
  void check_gei(const GeiMatrix& gei) const;
  std::vector<std::uint64_t> add_up() const;
  void end(std::uint32_t rank, const std::vector<std::uint64_t>& sums);
  void check_end();

  std::mt19937_64 random_;
  std::uint32_t ranks_;
  std::size_t layers_;
  LooseRule rule_;
  LooseModel model_;
  std::vector<Worker> workers_;
  Replica all_ = 0;    // the sums of all rounds that have ended
  Replica given_ = 0;  // before the last one
};

LooseRule Schedule::any_rule(std::mt19937_64& random, std::size_t layers) {
  const auto staleness = random() % 5;
  const auto proportion = random() % 2 == 0 ? layers : 1 + random() % layers;
  const auto catch_up = random() % 3 == 0 ? always : 1 + random() % 5;
  switch (random() % 4) {
    case 0:
      return {true, true, false, 0, layers, always};
    case 1:
      return {false, true, false, staleness, proportion, always};
    case 2:
      return {false, true, true, staleness, proportion, catch_up};
    default:
      return {false, false, false, 0, layers, catch_up};
  }
}

Schedule::Schedule(std::uint64_t seed)
    : random_(seed),
      ranks_(static_cast<std::uint32_t>(1 + below(5))),
      layers_(below(40) == 0 ? 65 : 1 + below(4)),
      rule_(any_rule(random_, layers_)),
      model_(ranks_, layers_, rule_) {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    workers_.emplace_back(Rounds(rank, ranks_, layers_, rule_), below(below(4) == 0 ? 40 : 8));
    workers_.back().weight = below(3) == 0 ? 1 : static_cast<std::uint32_t>(1 + below(10));
  }
}

void Schedule::run() {
  constexpr int rounds_max = 20'000;
  int rounds = 0;
  while (!workers_.front().rounds.is_over()) {
    any_steps();
    round();
    require(++rounds < rounds_max, "it does not come to its end");
  }
  check_end();
}

std::vector<std::uint32_t> Schedule::any_order() {
  std::vector<std::uint32_t> order;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    order.push_back(rank);
  }
  std::shuffle(order.begin(), order.end(), random_);
  return order;
}

void Schedule::any_steps() {
  for (auto steps = below(2 * ranks_ + 1); steps > 0; --steps) {
    const auto rank = static_cast<std::uint32_t>(below(ranks_));
    if (below(10) < workers_[rank].weight) {
      step(rank);
    }
  }
}

void Schedule::step(std::uint32_t rank) {
  auto& worker = workers_[rank];
  if (worker.rounds.is_inside()) {
    offer(rank);
    return;
  }
  arrive(worker);
  if (worker.closed) {
    return;
  }
  if (worker.made == worker.iterations) {
    worker.rounds.close();
    worker.closed = true;
    model_.closes(rank);
  } else if (worker.rounds.may_enter()) {
    enter(rank);
  }
}

// Takes the sums between two iterations.
void Schedule::arrive(Worker& worker) {
  for (const auto sum : worker.backlog) {
    worker.replica = with(worker.replica, sum);
  }
  worker.backlog.clear();
  worker.resting = true;
}

void Schedule::enter(std::uint32_t rank) {
  auto& worker = workers_[rank];
  worker.iteration = worker.rounds.enter();
  worker.resting = false;
  ++worker.made;
  model_.begins(rank, worker.iteration);
  for (std::uint32_t other = 0; rule_.bounded && !rule_.drops && other < ranks_; ++other) {
    require(workers_[other].closed || worker.iteration <= model_.reached(other) + rule_.staleness,
            "a rank is further ahead than the staleness");
  }
}

void Schedule::offer(std::uint32_t rank) {
  auto& worker = workers_[rank];
  const auto layer = below(layers_);
  for (std::size_t i = 0; i < layers_; ++i) {
    const auto next = (layer + i) % layers_;
    if (!worker.rounds.has_offered(next)) {
      worker.rounds.offer(next);
      model_.offers({rank, worker.iteration, next});
      return;
    }
  }
}

void Schedule::round() {
  std::vector<std::uint64_t> together;
  put_together(together);
  const auto wanted = model_.add_up();
  for (const auto rank : any_order()) {
    const auto heard = workers_[rank].rounds.hear();
    require(heard.has_value(), heard ? "" : heard.error().message);
    std::map<std::size_t, std::set<std::uint32_t>> sums;
    for (const auto& sum : workers_[rank].rounds.sums()) {
      const auto contributors = sum.contributors.ranks();
      sums[sum.layer] = {contributors.begin(), contributors.end()};
    }
    require(sums == wanted, "other ranks are in the sums than in the model's");
    require(workers_[rank].rounds.was_dropped() || !model_.is_stale(rank) ||
                !workers_[rank].rounds.is_inside(),
            "what is stale is not dropped");
    any_steps();
  }
  check_sums();
  const auto sums = add_up();
  if (const auto giver = workers_.front().rounds.giver()) {
    require(workers_[*giver].replica == all_, "parameters are given without all sums in them");
    require(workers_[*giver].resting, "parameters are given while their rank computes");
  }
  given_ = all_;
  for (const auto sum : sums) {
    all_ = with(all_, sum);
  }
  for (const auto rank : any_order()) {
    end(rank, sums);
    any_steps();
  }
}

void Schedule::put_together(std::vector<std::uint64_t>& together) {
  std::vector<std::span<std::uint64_t>> places;
  for (const auto rank : any_order()) {
    auto& worker = workers_[rank];
    model_.speaks(rank, !worker.rounds.is_inside());
    places.push_back(worker.rounds.speak(worker.at_rest()));
    any_steps();
  }
  together.assign(places.front().size(), 0);
  for (const auto& place : places) {
    for (std::size_t i = 0; i < together.size(); ++i) {
      together[i] |= place[i];
    }
  }
  for (const auto& place : places) {
    std::copy(together.begin(), together.end(), place.begin());
  }
}

// A gradient that counts must not be stale, unless enough of its iteration counted before.
void Schedule::check_sums() {
  for (const auto& sum : workers_.front().rounds.sums()) {
    for (const auto rank : sum.contributors.ranks()) {
      require(!rule_.drops || workers_[rank].iteration + rule_.staleness >= model_.latest() ||
                  model_.in_sums(rank, workers_[rank].iteration) >= rule_.proportion,
              "a stale gradient is in a sum");
    }
  }
}

void Schedule::check_gei(const GeiMatrix& gei) const {
  require(gei.first() == 0 && gei.latest() >= model_.latest(), "the matrix lacks iterations");
  for (std::uint64_t iteration = 0; iteration <= gei.latest(); ++iteration) {
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      const auto& in_sum = (*gei.row(iteration))[layer];
      for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        require(in_sum.has(rank) == model_.is_in_sum({rank, iteration, layer}),
                "the matrix has other gradients than were in sums");
      }
    }
  }
}

// Adds up as the switches do: each rank gives its own gradient, or zeros.
std::vector<std::uint64_t> Schedule::add_up() const {
  std::vector<std::uint64_t> sums;
  for (std::size_t place = 0; place < workers_.front().rounds.sums().size(); ++place) {
    sums.push_back(0);
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      const auto& worker = workers_[rank];
      const auto& sum = worker.rounds.sums()[place];
      if (sum.contributors.has(rank)) {
        sums.back() += value_of({rank, worker.iteration, sum.layer});
      }
    }
  }
  return sums;
}

void Schedule::end(std::uint32_t rank, const std::vector<std::uint64_t>& sums) {
  auto& worker = workers_[rank];
  const bool takes = worker.rounds.takes();
  if (takes) {
    require(worker.resting, "a rank gets parameters while it computes");
    worker.replica = given_;
    worker.backlog.clear();
    model_.pulled(rank);
  }
  worker.rounds.end();
  if (worker.rounds.is_pulling()) {
    worker.backlog.clear();
    return;
  }
  worker.backlog.insert(worker.backlog.end(), sums.begin(), sums.end());
  require(
      rule_.catch_up == always || worker.backlog.size() <= (rule_.catch_up + 3) * ranks_ * layers_,
      "more sums are kept than for the iterations to be caught up with");
}

void Schedule::check_end() {
  for (auto& worker : workers_) {
    require(worker.rounds.is_over(), "it is not over for all ranks");
    require(worker.backlog.empty(), "it is over, and a rank has not applied all sums");
    require(worker.replica == all_, "the replicas differ");
    check_gei(worker.rounds.gei());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "loose_property FIRST LAST\n";
    return 2;
  }
  const auto last = std::strtoull(argv[2], nullptr, 10);
  for (auto seed = std::strtoull(argv[1], nullptr, 10); seed <= last; ++seed) {
    try {
      Schedule(seed).run();
    } catch (const std::runtime_error& error) {
      std::cerr << "seed " << seed << ": " << error.what() << '\n';
      return 1;
    }
  }
  std::cout << "all schedules are as they should be\n";
}
