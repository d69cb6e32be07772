// SPDX-License-Identifier: BSD-3-Clause
// Versions of PyTorch differ in this. It is tested with 1.13; what is for 2.x is not.
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

// The base class of what carries collectives, and its name in Python, depend on the version.
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
