// SPDX-License-Identifier: BSD-3-Clause
// Where versions of PyTorch differ. Tested with 1.13; what is for 2.x is not.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <torch/csrc/distributed/c10d/Types.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <torch/version.h>
#include <vector>

#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

namespace tributary::pytorch {

// What carries collectives, and what Python calls the class from which it is derived.
#if TORCH_VERSION_MAJOR >= 2
using GroupBase = c10d::Backend;
constexpr const char* group_base_name = "Backend";
#else
using GroupBase = c10d::ProcessGroup;
constexpr const char* group_base_name = "ProcessGroup";
#endif

using Tensors = std::vector<at::Tensor>;
using WorkPtr = c10::intrusive_ptr<c10d::Work>;

}  // namespace tributary::pytorch
