// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "../loopback.h"
#include "host/c/tributary.h"

// Ranks of the C interface in threads of one process, which meet through its memory.
namespace tributary::host::test {

struct DestroyOptions {
  void operator()(tributary_options* options) const { tributary_options_destroy(options); }
};
using COptions = std::unique_ptr<tributary_options, DestroyOptions>;
struct DestroyComm {
  void operator()(tributary_comm* comm) const { tributary_comm_destroy(comm); }
};
using CComm = std::unique_ptr<tributary_comm, DestroyComm>;

// Options for the loopback interface, on which no switch adds up.
inline COptions c_options(std::uint32_t rank) {
  tributary_options* options = nullptr;
  EXPECT_EQ(tributary_options_create(&options), TRIBUTARY_SUCCESS);
  const auto address = "127.0.0." + std::to_string(rank + 1);
  tributary_options_set(options, "TRIBUTARY_LOCAL_ADDRESS", address.c_str());
  tributary_options_set(options, "TRIBUTARY_ALGORITHM", "ring");
  tributary_options_set(options, "TRIBUTARY_DEADLINE", "10s");
  tributary_options_on_notice(
      options, [](void*, const char*) {}, nullptr);
  return COptions(options);
}

// The allgather of the threads.
class Gatherers {
 public:
  explicit Gatherers(std::uint32_t ranks) : ranks_(ranks), barrier_(ranks) {}

  struct Seat {
    Gatherers* meeting;
    std::uint32_t rank;
  };
  static int allgather(void* context, const void* in, void* out, std::size_t bytes) {
    const auto& [meeting, rank] = *static_cast<Seat*>(context);
    return meeting->gather(rank, in, out, bytes);
  }

 private:
  int gather(std::uint32_t rank, const void* in, void* out, std::size_t bytes) {
    barrier_.arrive_and_wait();
    if (rank == 0) {
      all_.resize(bytes * ranks_);
    }
    barrier_.arrive_and_wait();
    std::memcpy(all_.data() + rank * bytes, in, bytes);
    barrier_.arrive_and_wait();
    std::memcpy(out, all_.data(), all_.size());
    return 0;
  }

  const std::uint32_t ranks_;
  std::barrier<> barrier_;
  std::vector<std::byte> all_;
};

// `change` changes each rank's options, and `after` is called when a rank's communicator is gone.
inline void run_c_world(
    std::uint32_t ranks, const std::function<void(tributary_comm*)>& body,
    const std::function<void(tributary_options*)>& change = {},
    const std::function<void()>& after = [] {}) {
  Gatherers meeting(ranks);
  run_ranks(ranks, [&](std::uint32_t rank) {
    Gatherers::Seat seat{&meeting, rank};
    tributary_comm* comm = nullptr;
    const auto options = c_options(rank);
    if (change) {
      change(options.get());
    }
    ASSERT_EQ(
        tributary_comm_create_with(&comm, options.get(), rank, ranks, Gatherers::allgather, &seat),
        TRIBUTARY_SUCCESS)
        << tributary_last_error();
    {
      const CComm owner(comm);
      body(comm);
    }
    after();
  });
}

}  // namespace tributary::host::test
