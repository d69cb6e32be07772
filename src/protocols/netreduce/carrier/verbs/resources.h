// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>
#include <memory>

namespace tributary::host::verbs {

// These own libibverbs' objects and give each back when they go.
template <auto destroy>
struct Destroyer {
  template <typename Object>
  void operator()(Object* object) const {
    destroy(object);
  }
};

using Devices = std::unique_ptr<ibv_device*, Destroyer<&ibv_free_device_list>>;
using Context = std::unique_ptr<ibv_context, Destroyer<&ibv_close_device>>;
using Domain = std::unique_ptr<ibv_pd, Destroyer<&ibv_dealloc_pd>>;
using Memory = std::unique_ptr<ibv_mr, Destroyer<&ibv_dereg_mr>>;
using Channel = std::unique_ptr<ibv_comp_channel, Destroyer<&ibv_destroy_comp_channel>>;
using CompletionQueue = std::unique_ptr<ibv_cq, Destroyer<&ibv_destroy_cq>>;
using QueuePair = std::unique_ptr<ibv_qp, Destroyer<&ibv_destroy_qp>>;

}  // namespace tributary::host::verbs
