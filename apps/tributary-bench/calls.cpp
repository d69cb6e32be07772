// SPDX-License-Identifier: BSD-3-Clause
#include "calls.h"

#include <span>
#include <utility>

#include "host/protocol.h"

namespace tributary::bench {
namespace {

// The communicator has one call for this, whatever the way.
Result<void> call_sparse(const Task& task, Sparse& sparse) {
  const auto& problem = task.problem;
  return task.communicator
      .sparse_allreduce(sparse.indices, sparse.values.data(), problem.count, problem.type,
                        problem.op)
      .map([&sparse](SparseElements sum) { sparse.sum = std::move(sum); });
}

// The communicator has one call for this, too.
Result<void> call_sketched(const Task& task, Placement& placement) {
  const std::span in(reinterpret_cast<const float*>(placement.in()), task.problem.count);
  const std::span out(reinterpret_cast<float*>(placement.out()), task.problem.count);
  return task.communicator.sketched_allreduce(in, out, placement.sketch());
}

}  // namespace

Result<void> call(const Task& task, Placement& placement) {
  const auto& [type, op, count, rank, world_size, density, packet_elements] = task.problem;
  auto& communicator = task.communicator;
  auto* const in = placement.in();
  auto* const out = placement.out();
  if (task.way.parallel != nullptr) {
    return task.way.parallel->allreduce(in, out, count, type, op);
  }
  const bool by_ring = task.way.algorithm == host::ring_algorithm;
  const auto root = task.options.root;
  switch (task.options.collective) {
    case Collective::allreduce:
      return by_ring ? communicator.ring_allreduce(in, out, count, type, op)
                     : communicator.allreduce(in, out, count, type, op);
    case Collective::reduce:
      return by_ring ? communicator.ring_reduce(in, out, count, type, op, root)
                     : communicator.reduce(in, out, count, type, op, root);
    case Collective::broadcast:
      return by_ring ? communicator.ring_broadcast(out, count, type, root)
                     : communicator.broadcast(out, count, type, root);
    case Collective::sparse_allreduce:
      return call_sparse(task, placement.sparse());
    case Collective::sketched_allreduce:
      return call_sketched(task, placement);
    case Collective::barrier:
      break;
  }
  return by_ring ? communicator.ring_barrier() : communicator.barrier();
}

}  // namespace tributary::bench
