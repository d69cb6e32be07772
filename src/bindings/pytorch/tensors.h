// SPDX-License-Identifier: BSD-3-Clause
// Collectives ask this of tensors, and do this with them. Whatever is refused is thrown as
// c10::Error, in words that name `collective`.
#pragma once

#include <ATen/core/Tensor.h>
#include <cstddef>
#include <optional>
#include <string>

#include "bindings/pytorch/c10d.h"
#include "bindings/pytorch/lacking.h"

namespace tributary::pytorch {

const at::Tensor& the_one(const Tensors& tensors, const char* collective);
// A tensor that is not strided has no elements of its own that could be sent.
bool is_dense(const at::Tensor& tensor);
void expect_cpu(const at::Tensor& tensor, const char* collective);
// Expects each of `outputs`, one for each rank, to have as many elements as `input`, of the same
// type.
void expect_alike(const Tensors& outputs, const at::Tensor& input, std::size_t ranks,
                  const char* collective);
// Expects `all` to have `one` of each rank.
void expect_share(const at::Tensor& all, const at::Tensor& one, int ranks, const char* collective);

// Returns the tensor itself if its elements lie in order already, else a copy; autograd does not
// see it.
at::Tensor flattened(const at::Tensor& tensor);
// Copies `flat` back to `tensor` if it is a copy of it.
void copy_back(const at::Tensor& tensor, const at::Tensor& flat);
// Makes averages of sums of so many ranks, less those that parts of them lack. `flat` has its
// elements in order.
void divide(const at::Tensor& flat, int ranks, const Lacking& lacking);

std::size_t bytes_of(const at::Tensor& tensor);
std::size_t count_of(const at::Tensor& tensor);
// Returns a text for messages: "all_reduce of 10 Float (sum)".
std::string described(const char* collective, const at::Tensor& tensor,
                      const std::optional<c10d::ReduceOp>& op = std::nullopt);

}  // namespace tributary::pytorch
