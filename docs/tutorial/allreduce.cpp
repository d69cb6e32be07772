// SPDX-License-Identifier: BSD-3-Clause
// Adds up a vector over all ranks: docs/tutorial/4-own-program.md.
#include <cstdio>
#include <span>
#include <vector>

#include <host/communicator.h>

int main() {
  const auto options = tributary::CommunicatorOptions::from_environment();
  if (!options) {
    std::fprintf(stderr, "%s\n", options.error().message.c_str());
    return 2;
  }
  auto communicator = tributary::Communicator::create(*options);
  if (!communicator) {
    std::fprintf(stderr, "%s\n", communicator.error().message.c_str());
    return 1;
  }
  std::vector<float> gradients(1000, static_cast<float>(options->rank + 1));
  if (const auto done = communicator->allreduce(std::span(gradients)); !done) {
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return 1;
  }
  std::printf("rank %u of %u: %g\n", options->rank, options->world_size, gradients.front());
}
