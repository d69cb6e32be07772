// SPDX-License-Identifier: BSD-3-Clause
// This part of a communicator carries out collectives of sparse and of sketched vectors.
#include <algorithm>
#include <string_view>
#include <type_traits>
#include <utility>

#include "host/call_check.h"
#include "host/communicator_state.h"
#include "host/ring/sparse_schedule.h"
#include "host/sketch/check.h"
#include "host/sketch/grid_steps.h"
#include "host/sketch/low_rank_steps.h"
#include "host/sketch/pending.h"
#include "host/sketch/quantile_steps.h"

namespace tributary {
namespace {

using host::By;
using host::Call;
using host::call_of;
using host::Collective;
using host::SparseBuffers;

constexpr std::string_view sparse_name = "sparse_allreduce";
constexpr std::string_view sketched_name = "sketched_allreduce";

// Returns the call that the steps of a sketch amount to: exact sums, unless factors are floats.
Call sums_of(const GradientSketch& sketch, std::size_t bytes) {
  constexpr unsigned bits_of_floats = 32;
  const auto type =
      sketch.options().bits == bits_of_floats ? wire::ElementType::f32 : wire::ElementType::i8;
  const auto count = bytes / wire::element_bytes(type);
  return call_of(Collective::allreduce, nullptr, nullptr, count, type, wire::Operator::sum);
}

}  // namespace

// Chooses the same means on all ranks. Switches add sparse vectors in the order in which they come,
// so reproducible sums go by the ring.
By Communicator::State::means_for_sparse() const {
  return only_ring || options.reproducible || !carrier->takes_sparse() ? By::ring : By::carrier;
}

Result<SparseElements> Communicator::State::run_sparse(const SparseBuffers& buffers) {
  last = {};
  if (auto checked = host::check(buffers); !checked) {
    refuse_sparse(buffers.count);
    return tl::make_unexpected(checked.error());
  }
  if (aborted) {
    return fail_as_aborted();
  }
  if (machine) {
    return fail(Error::Code::invalid_argument,
                "ranks that share a machine have no sparse allreduce; make a communicator in which "
                "each rank stands for itself, or call allreduce with all elements");
  }
  if (!ring) {
    return host::SparseSchedule(buffers, 0, 1).sum();
  }
  if (buffers.count == 0) {
    return SparseElements{0, buffers.type, {}, {}};
  }
  const auto by = means_for_sparse();
  const auto bytes =
      buffers.indices.size() * (wire::element_bytes(buffers.type) + sizeof buffers.indices[0]);
  auto sum =
      recorded(sparse_name, by, bytes, [&] { return outcome_of(run_sparse_by(by, buffers)); });
  count(by, sparse_name, sum.has_value(), false);
  return sum;
}

Result<SparseElements> Communicator::State::run_sparse_by(By by, const SparseBuffers& buffers) {
  if (by == By::ring) {
    return ring->sparse_allreduce(buffers, deadline());
  }
  SparseElements sum;
  const host::SparseCall sparse{buffers, &sum};
  Call call;
  call.sparse = &sparse;
  return run_carrier(call, deadline()).map([&sum] { return std::move(sum); });
}

// An empty vector does not count: the others have not begun anything with it either.
void Communicator::State::refuse_sparse(std::size_t count) {
  if (!ring || count == 0) {
    return;
  }
  const host::SparseCall sparse{{{}, nullptr, count}};
  Call call;
  call.sparse = &sparse;
  skip_whole(means_for_sparse(), call);
}

Result<void> Communicator::State::run_sketched(const host::sketch::Vectors& vectors,
                                               GradientSketch& sketch) {
  last = {};
  const auto checked = is_late() ? not_begun(sketched_name)
                                 : host::sketch::check(vectors, sketch, options.world_size);
  const auto count = sketch.count();  // that of all ranks, also where a vector is too short
  if (is_alone() && aborted) {
    if (checked) {
      host::sketch::Pending(vectors.in, sketch, options.rank).begin();
    }
    return fail_as_aborted();
  }
  if (is_alone() || count == 0) {
    if (checked && count != 0) {
      host::sketch::Pending(vectors.in, sketch, options.rank).end_alone(vectors.out);
    }
    return checked;
  }
  const auto run_in = [&]<typename Steps>(std::type_identity<Steps>) {
    Steps steps(vectors, sketch, options.rank, options.world_size, sketch_scratch);
    return run_sketched_in(steps, sums_of(sketch, steps.bytes()), count, checked);
  };
  if (sketch.matrix()) {
    return run_in(std::type_identity<host::sketch::LowRankSteps>{});
  }
  return sketch.options().kind == SketchKind::grid
             ? run_in(std::type_identity<host::sketch::GridSteps>{})
             : run_in(std::type_identity<host::sketch::QuantileSteps>{});
}

// The steps go by means that leave nobody out: a grid has the bounds of all ranks, or it is none.
Result<void> Communicator::State::run_sketched_in(host::Steps& steps, const Call& sums,
                                                  std::size_t elements,
                                                  const Result<void>& checked) {
  const auto by = means_for_all(sums);
  const auto bytes = sums.buffers.bytes();
  if (auto accepted = checked ? accept_bytes(by, bytes) : checked; !accepted) {
    skip_all(by, steps, Nesting::outer);
    return accepted;
  }
  if (aborted) {
    (void)steps.next();  // as with a step that fails, what was given is kept back
    return fail_as_aborted();
  }
  auto done = recorded(sketched_name, by, bytes, [&] {
    return outcome_of(carry_out(by, steps, deadline(), Nesting::outer));
  });
  count(by, sketched_name, done.has_value(), is_by_plan(by, sums));
  if (done) {
    sketched.sent += bytes;
    sketched.of_floats += elements * sizeof(float);
  }
  return done;
}

}  // namespace tributary
