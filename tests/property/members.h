// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/canary/collectives.h"
#include "host/panama/collectives.h"
#include "property/partial_sums.h"
#include "property/reference.h"
#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// What all ranks of a job call, one after the other, and what has to come out.
struct Exercise {
  host::Collective collective = host::Collective::allreduce;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
  std::size_t elements = 0;
  std::uint32_t root = 0;
  bool in_place = false;
  std::vector<Data> inputs;  // by rank
  Data expected;
};

// The workers of one job. Each begins its next collective when it is done with the one before, and
// stops after an error.
class Members {
 public:
  struct Tally {
    std::uint64_t succeeded = 0;  // collectives of one rank
    std::uint64_t failed = 0;
    Duration longest{};
    CanaryStatistics canary;
    std::uint64_t panama_repeats = 0;  // packets that were sent again
    std::uint64_t panama_partial = 0;  // results without somebody

    void add(const CanaryStatistics& from);
    void add(const PanamaStatistics& from);
  };

  Members(VirtualFabric& fabric, const Shape& shape, std::uint32_t job);
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // This rank's process dies now.
  void kill(std::uint32_t rank);
  std::uint32_t world_size() const { return static_cast<std::uint32_t>(workers_.size()); }

  bool finished() const { return busy_ == 0; }
  bool all_succeeded() const { return tally_.succeeded == workers_.size() * exercises_.size(); }
  // The first thing that must not be; empty if all is well. Also looks again at what was delivered
  // long ago.
  std::string fault() const;
  Tally tally() const;
  // Who has not finished what, for a report.
  std::string state() const;

 private:
  struct Worker;
  bool panama() const { return is_panama(shape_, job_); }
  Duration deadline() const;
  host::Job make_job();
  void add_worker(std::size_t host);
  void join_canary();
  void join_panama();
  void attach(Worker& worker, std::uint16_t port, std::unique_ptr<host::Machine> machine);
  void draw_exercises();
  Exercise draw_exercise(Random& random) const;
  void plan(Worker& worker);
  void begin(Worker& worker);
  void ended(Worker& worker);
  void check(Worker& worker, const Exercise& exercise);
  bool is_right(const Exercise& exercise, const Data& buffer);
  bool names_the_dead() const;
  void blame(const Worker& worker, const std::string& what);
  std::size_t index_of(const Exercise& exercise) const {
    return static_cast<std::size_t>(&exercise - exercises_.data());
  }
  static bool delivers(const Exercise& exercise, std::uint32_t rank);

  VirtualFabric& fabric_;
  const Shape& shape_;
  std::uint32_t job_;
  Random random_;
  std::vector<Exercise> exercises_;
  std::vector<PartialSums> partial_;  // by exercise, if somebody may be missing
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t busy_ = 0;
  std::string fault_;
  Tally tally_;
};

}  // namespace tributary::test
