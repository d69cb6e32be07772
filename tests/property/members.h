// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "host/job.h"
#include "property/exercises.h"
#include "property/machines.h"
#include "property/shape.h"
#include "support/virtual_fabric.h"

namespace tributary::test {

// The workers of one job. Each begins its next collective when it has finished the one before, and
// after an error stops until the next run, which begins with new machines when all workers have
// ended the one before.
class Members {
 public:
  Members(VirtualFabric& fabric, const Shape& shape, std::uint32_t job);
  ~Members();
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  // Has this rank's process die now.
  void kill(std::uint32_t rank);
  std::uint32_t world_size() const { return static_cast<std::uint32_t>(workers_.size()); }

  bool finished() const { return busy_ == 0; }
  bool all_succeeded() const { return tally_.succeeded == workers_.size() * exercises_.size(); }
  // Returns the first violation, or an empty text. Also checks again results that were delivered
  // long ago.
  std::string fault() const;
  Tally tally() const;
  // Returns which ranks have not finished which calls, for a report.
  std::string state() const;

 private:
  struct Worker;
  bool panama() const { return is_panama(shape_, job_); }
  bool netreduce() const { return is_netreduce(shape_, job_); }
  bool flare() const { return is_flare(shape_, job_); }
  bool must_succeed_now() const;
  Duration deadline() const;

  void draw_key();
  void prepare_job();
  void add_worker(std::size_t host, std::uint16_t port);
  void seat_anywhere();
  void seat_apart(std::uint16_t port);

  std::size_t exercises_per_run() const { return exercises_.size() / runs_of(shape_, job_); }
  void begin_run();
  void begin_next_run();
  void leave(Worker& worker);
  bool all_alive() const;

  void prepare_exercises();
  void plan(Worker& worker);
  void begin(Worker& worker);
  void ended(Worker& worker);
  void check(Worker& worker, const Exercise& exercise);
  bool is_right(const Worker& worker, const Exercise& exercise, const Data& buffer) const;
  bool names_the_dead() const;
  void blame(const Worker& worker, const std::string& what);
  std::size_t index_of(const Exercise& exercise) const {
    return static_cast<std::size_t>(&exercise - exercises_.data());
  }

  VirtualFabric& fabric_;
  const Shape& shape_;
  std::uint32_t job_;
  Random random_;
  Time born_;
  host::Job base_;  // of all ranks
  std::uint64_t run_ = 0;
  Time run_began_{};
  std::vector<Exercise> exercises_;  // of one run after the other
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t busy_ = 0;  // workers that have not ended the run
  std::string fault_;
  Tally tally_;
};

}  // namespace tributary::test
