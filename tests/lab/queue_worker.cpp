// SPDX-License-Identifier: BSD-3-Clause
// A rank that posts named collectives in an order of its own, for queue_test.py.
//
//   queue_worker shuffle ROUNDS   every round posts all tensors, in another order on every rank
//   queue_worker differ           rank 1 posts another count than the others
//   queue_worker late             the last rank posts it when it is told that the others wait
//   queue_worker leave            the last rank closes its queue without having posted it
//
// Rank 0 prints figures as JSON; what goes wrong as it should is said on standard error.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <iostream>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/queue/collective_queue.h"

namespace {

using namespace tributary;

constexpr std::size_t tensors = 40;

void must(const Result<void>& done) {
  if (!done) {
    std::cerr << done.error().message << '\n';
    std::exit(1);
  }
}
void must_fail(const Result<void>& done) {
  if (done) {
    std::cerr << "this should have failed\n";
    std::exit(1);
  }
  std::cerr << done.error().message << '\n';
}

// From 1 element to some 300 KB.
std::size_t count_of(std::size_t index) {
  return 1 + index * index * 47;
}

// A sum of small whole numbers is exact.
void post_all(CollectiveQueue& queue, std::vector<std::vector<float>>& values, std::size_t round,
              std::mt19937& random) {
  const auto rank = queue.communicator().rank();
  std::vector<std::size_t> order(tensors);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  for (const auto index : order) {
    const auto mine = static_cast<float>((rank + 1) * (index + 1) + round);
    values[index].assign(count_of(index), mine);
    queue.allreduce("gradient " + std::to_string(index), std::span(values[index]));
  }
}

std::size_t wrong_elements(std::uint32_t ranks, const std::vector<std::vector<float>>& values,
                           std::size_t round) {
  std::size_t wrong = 0;
  for (std::size_t index = 0; index < tensors; ++index) {
    const auto sum = static_cast<float>(ranks * (ranks + 1) / 2 * (index + 1) + ranks * round);
    wrong += static_cast<std::size_t>(std::count_if(values[index].begin(), values[index].end(),
                                                    [&](float value) { return value != sum; }));
  }
  return wrong;
}

void shuffle(CollectiveQueue& queue, std::size_t rounds) {
  const auto rank = queue.communicator().rank();
  const auto ranks = queue.communicator().world_size();
  std::mt19937 random(rank);
  std::vector<std::vector<float>> values(tensors);
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto root = static_cast<std::uint32_t>(round % ranks);
    std::vector<std::int32_t> step(1, rank == root ? static_cast<std::int32_t>(round) : -1);
    auto told = queue.broadcast("step " + std::to_string(round), std::span(step), root);
    post_all(queue, values, round, random);
    must(told.get());
    must(queue.flush());
    wrong += wrong_elements(ranks, values, round);
    wrong += step[0] == static_cast<std::int32_t>(round) ? 0u : 1u;
  }
  must(queue.close());
  if (wrong != 0) {
    std::cerr << wrong << " elements are wrong\n";
    std::exit(1);
  }
  if (rank == 0) {
    const auto ordered = queue.statistics();
    const auto reduced = queue.communicator().statistics();
    std::cout << "{\"collectives\": " << ordered["collectives"]
              << ", \"collectives_fused\": " << ordered["collectives_fused"]
              << ", \"announcements\": " << ordered["announcements"]
              << ", \"switch_sums_seen\": " << reduced["switch_sums_seen"] << "}\n";
  }
}

// What the queue's thread has to say; the first line that tells of somebody who is late.
class Notices {
 public:
  void add(const std::string& line) {
    std::cerr << line << '\n';
    if (line.find("has waited") != std::string::npos && !told_) {
      told_ = true;
      late_.set_value();
    }
  }
  void await_late() { late_.get_future().wait(); }

 private:
  bool told_ = false;
  std::promise<void> late_;
};

void post_one(CollectiveQueue& queue, const std::string& how, Notices& notices) {
  const auto rank = queue.communicator().rank();
  const bool is_last = rank + 1 == queue.communicator().world_size();
  std::vector<float> values(how == "differ" && rank == 1 ? 5 : 4);
  if (how == "late" && is_last) {
    notices.await_late();
  }
  if (how != "leave" || !is_last) {
    const auto done = queue.allreduce("gradient", std::span(values)).get();
    if (how == "late") {
      must(done);
    } else {
      must_fail(done);
    }
  }
  must(queue.close());
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  auto options = CommunicatorOptions::from_environment();
  if (!options || arguments.empty()) {
    std::cerr << (options ? "queue_worker shuffle ROUNDS|differ|late|leave"
                          : options.error().message)
              << '\n';
    return 2;
  }
  Notices notices;
  options->on_notice = [&](const std::string& line) { notices.add(line); };
  auto communicator = Communicator::create(*options);
  if (!communicator) {
    std::cerr << communicator.error().message << '\n';
    return 1;
  }
  CollectiveQueueOptions queue_options;
  queue_options.stall_warning = std::chrono::seconds(1);
  auto queue = CollectiveQueue::create(std::move(*communicator), queue_options);
  if (!queue) {
    std::cerr << queue.error().message << '\n';
    return 1;
  }
  if (arguments[0] == "shuffle" && arguments.size() == 2) {
    shuffle(*queue, std::stoul(arguments[1]));
  } else {
    post_one(*queue, arguments[0], notices);
  }
}
