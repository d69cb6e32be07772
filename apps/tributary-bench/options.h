// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "handlers.h"
#include "host/communicator.h"
#include "host/gradient_sketch.h"
#include "host/parallel/parallel_communicator.h"
#include "wire/element.h"

namespace tributary::bench {

enum class Collective : std::uint8_t {
  allreduce,
  reduce,
  broadcast,
  barrier,
  sparse_allreduce,
  sketched_allreduce
};
enum class Layout : std::uint8_t { nccl, osu, csv, json };

inline const char* name(Collective collective) {
  constexpr const char* names[] = {"allreduce", "reduce",           "broadcast",
                                   "barrier",   "sparse_allreduce", "sketched_allreduce"};
  return names[static_cast<std::size_t>(collective)];
}

struct Options {
  Collective collective = Collective::allreduce;
  std::vector<std::size_t> sizes;   // bytes per rank
  std::vector<std::size_t> counts;  // elements per rank; if not empty, instead of sizes
  std::vector<wire::ElementType> types;
  std::vector<wire::Operator> operators;
  std::vector<NumberedHandler> handlers;
  std::vector<std::string> algorithms;  // "auto": the communicator chooses
  std::vector<Hierarchy> hierarchies;   // of allreduce, beside the algorithms
  std::string between = "auto";         // algorithm between the machines of a hierarchy
  std::uint32_t local_rank = 0;
  std::uint32_t local_world_size = 1;
  std::uint32_t root = 0;    // of reduce and broadcast
  double density = 1;        // share of elements that are not zero; 1 unless it is_sparse()
  SketchOptions sketch;      // of a sketched allreduce
  std::size_t low_rank = 0;  // of the factors of matrices; 0: matrices are sent as they are
  std::size_t columns = 0;   // of these matrices; 0: as near to a square as there is one
  std::size_t iterations = 5;
  std::size_t warmups = 1;
  std::chrono::nanoseconds interval{};  // between the beginnings of iterations, at least
  std::size_t misalignment = 0;         // bytes by which buffers miss an aligned address
  bool check = true;
  bool must_check = false;  // it was asked for
  Layout layout = Layout::nccl;
  std::string record;               // file for the JSON document besides; empty: none
  std::uint64_t line_rate_bps = 0;  // 0: not given
  CommunicatorOptions communicator;

  CommunicatorOptions between_machines() const {
    auto options = communicator;
    options.algorithm = between;
    return options;
  }
  bool has_root() const {
    return collective == Collective::reduce || collective == Collective::broadcast;
  }
  bool has_operator() const {
    return collective == Collective::allreduce || collective == Collective::reduce || is_sparse() ||
           is_sketched();
  }
  // Tells whether results may lack ranks that are late, if the communicator allows it.
  bool may_lack_ranks() const { return has_operator() && !is_sparse() && !is_sketched(); }
  bool is_sparse() const { return collective == Collective::sparse_allreduce; }
  bool is_sketched() const { return collective == Collective::sketched_allreduce; }
  // Returns the shape of vectors of so many elements, or no value if they are no matrices.
  std::optional<LowRank> matrix_of(std::size_t count) const;
  // A broadcast has one buffer, a barrier none, and a sparse allreduce returns its sum.
  bool has_out_of_place() const {
    return collective == Collective::allreduce || collective == Collective::reduce || is_sketched();
  }
};

// Parsed has the options, or the exit code with which to end (after a message, or after --help).
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace tributary::bench
