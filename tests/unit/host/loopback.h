// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "host/communicator_options.h"

// Runs ranks in threads of one process, on real sockets of the loopback interface.
namespace tributary::host::test {

inline CommunicatorOptions options_on_loopback(std::uint32_t rank, std::uint32_t world_size,
                                               std::uint16_t port) {
  CommunicatorOptions options;
  options.rank = rank;
  options.world_size = world_size;
  options.rendezvous = "127.0.0.1:" + std::to_string(port);
  options.local_address = "127.0.0." + std::to_string(rank + 1);
  options.mtu = 1500;
  options.deadline = std::chrono::seconds(10);
  options.on_notice = [](const std::string&) {};
  return options;
}

inline void run_ranks(std::uint32_t ranks, const std::function<void(std::uint32_t rank)>& body) {
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&body, rank] { body(rank); });
  }
}

}  // namespace tributary::host::test
