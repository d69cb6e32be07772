// SPDX-License-Identifier: BSD-3-Clause
// Adds up vectors that ranks post in different orders: docs/tutorial/4-own-program.md.
#include <cstdio>
#include <span>
#include <utility>
#include <vector>

#include <host/queue/collective_queue.h>

int main() {
  const auto options = tributary::CommunicatorOptions::from_environment();
  if (!options) {
    std::fprintf(stderr, "%s\n", options.error().message.c_str());
    return 2;
  }
  auto queue = tributary::Communicator::create(*options).and_then([](auto&& communicator) {
    return tributary::CollectiveQueue::create(std::move(communicator));
  });
  if (!queue) {
    std::fprintf(stderr, "%s\n", queue.error().message.c_str());
    return 1;
  }
  std::vector<float> weights(1000, static_cast<float>(options->rank + 1));
  std::vector<float> biases(10, 1);
  if (options->rank == 0) {
    queue->allreduce("weights", std::span(weights));
    queue->allreduce("biases", std::span(biases));
  } else {
    queue->allreduce("biases", std::span(biases));
    queue->allreduce("weights", std::span(weights));
  }
  if (const auto done = queue->flush(); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  std::printf("rank %u of %u: %g %g\n", options->rank, options->world_size, weights.front(),
              biases.front());
}
