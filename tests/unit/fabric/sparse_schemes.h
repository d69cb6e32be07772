// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "unit/fabric/cluster.h"
#include "unit/fabric/sparse_draw.h"

namespace tributary::test {

// One rank on each host of the cluster, all at the same time (Flare, Figure 15). Flare's engine and
// ranks are the real ones, in a virtual fabric of real switches, which take no time.
Cost flare_dense(const Cluster& cluster, std::size_t count);
Cost flare_sparse(const Cluster& cluster, const SparseInputs& inputs);

// The library's rings.
Cost ring_dense(const Cluster& cluster, std::size_t count);
Cost ring_sparse(const Cluster& cluster, const SparseInputs& inputs);

// SparCML's split allgather, as a model: each rank sends every other one its range of indices,
// these add up, and sums are gathered by recursive doubling. With `dense_sums` sums are always
// dense, as in its DSAR; otherwise they have the form that takes fewer bytes. Bytes are those of
// the library's parts; time is that of the busiest link in each step, and the time until the step's
// last segment has arrived. Precondition: the hosts are a power of two.
Cost split_allgather(const Cluster& cluster, const SparseInputs& inputs, bool dense_sums);

}  // namespace tributary::test
