// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "host/call.h"
#include "host/exact/steps.h"
#include "host/job.h"
#include "host/machine.h"
#include "support/virtual_fabric.h"
#include "unit/host/values.h"

namespace tributary::test {

// The workers of one job, by any protocol, that carry out one allreduce: in the steps of a
// reproducible one, or as an ordinary call.
class StepWorkers {
 public:
  using Make = std::function<std::unique_ptr<host::Machine>(const host::Job&)>;

  // A machine for each rank, on its host.
  StepWorkers(VirtualFabric& fabric, const std::vector<std::size_t>& hosts, std::uint16_t udp_port,
              host::Job job, const Make& make)
      : fabric_(fabric) {
    job.peers.clear();
    for (const auto host : hosts) {
      job.peers.push_back(fabric.endpoint(host, udp_port));
    }
    for (job.rank = 0; job.rank < hosts.size(); ++job.rank) {
      auto worker = std::make_unique<Worker>();
      worker->host = hosts[job.rank];
      worker->machine = make(std::as_const(job));
      fabric.attach(worker->host, udp_port, *worker->machine,
                    [this, one = worker.get()] { plan(*one, {}); });
      workers_.push_back(std::move(worker));
    }
  }
  ~StepWorkers() {
    for (const auto& worker : workers_) {
      fabric_.detach(*worker->machine);
    }
  }
  StepWorkers(const StepWorkers&) = delete;
  StepWorkers& operator=(const StepWorkers&) = delete;

  // Each rank begins at a time of its own, within a millisecond. `in` has the inputs by rank.
  void begin(host::Call call, const std::vector<host::test::Elements>& in, bool in_steps,
             std::mt19937_64& random) {
    const auto ranks = static_cast<std::uint32_t>(workers_.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto& worker = *workers_[rank];
      worker.in = in[rank];
      worker.out.resize(worker.in.size());
      call.buffers.in = worker.in.data();
      call.buffers.out = worker.out.data();
      worker.call = call;
      if (in_steps) {
        worker.steps.emplace(call, rank, ranks, worker.scratch);
      }
      worker.over = false;
      plan(worker, std::chrono::microseconds(random() % 1000));
    }
  }
  bool all_over() const {
    return std::all_of(workers_.begin(), workers_.end(),
                       [](const auto& worker) { return worker->over; });
  }
  bool none_failed() const {
    return std::none_of(workers_.begin(), workers_.end(),
                        [](const auto& worker) { return worker->machine->failure().has_value(); });
  }
  const host::test::Elements& result(std::size_t rank) const { return workers_[rank]->out; }

 private:
  struct Worker {
    std::size_t host = 0;
    std::unique_ptr<host::Machine> machine;
    host::test::Elements in;
    host::test::Elements out;
    std::optional<host::Call> call;  // that it still has to make as it is
    host::exact::Scratch scratch;
    std::optional<host::exact::Steps> steps;
    bool planned = false;
    bool over = true;
  };

  // The call is not made at once, because the fabric may be using the machine.
  void plan(Worker& worker, Duration delay) {
    if (worker.planned || worker.over) {
      return;
    }
    worker.planned = true;
    fabric_.at(fabric_.now() + delay, [this, one = &worker] { go_on(*one); });
  }

  void go_on(Worker& worker) {
    worker.planned = false;
    const auto call = worker.machine->failure() ? std::nullopt : next_call(worker);
    worker.over = !call;
    if (call) {
      worker.machine->begin(*call, fabric_.host_now(),
                            fabric_.host_now() + std::chrono::seconds(60));
      fabric_.wake(worker.host);
    }
  }

  static std::optional<host::Call> next_call(Worker& worker) {
    if (!worker.steps) {
      return std::exchange(worker.call, std::nullopt);
    }
    while (const auto step = worker.steps->next()) {
      if (step->needed) {
        EXPECT_FALSE(step->by_ring) << "there is no ring here";
        return step->call;
      }
    }
    return std::nullopt;
  }

  VirtualFabric& fabric_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace tributary::test
