// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/tensors.h"

#include <ATen/core/grad_mode.h>

#include "bindings/pytorch/kind.h"

namespace tributary::pytorch {

const at::Tensor& the_one(const Tensors& tensors, const char* collective) {
  TORCH_CHECK(tensors.size() == 1, collective, " over Tributary takes one tensor at a time, not ",
              tensors.size());
  return tensors.front();
}

bool is_dense(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided;
}

void expect_cpu(const at::Tensor& tensor, const char* collective) {
  TORCH_CHECK(tensor.device().is_cpu(), collective,
              " over Tributary takes tensors in the memory of the host, and this one is on ",
              tensor.device(), "; move it there first (tensor.cpu())");
}

at::Tensor flattened(const at::Tensor& tensor) {
  const at::NoGradGuard no_grad;
  // A tensor may be conjugated or negated by a bit of its own, which its memory does not show.
  return tensor.contiguous().resolve_conj().resolve_neg();
}

std::size_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.nbytes());
}

std::size_t count_of(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel());
}

std::string described(const char* collective, const at::Tensor& tensor,
                      const std::optional<c10d::ReduceOp>& op) {
  return std::string(collective) + " of " + std::to_string(tensor.numel()) + " " +
         c10::toString(tensor.scalar_type()) + (op ? " (" + name_of(*op) + ")" : "");
}

void copy_back(const at::Tensor& tensor, const at::Tensor& flat) {
  if (!tensor.is_same(flat)) {
    tensor.copy_(flat);
  }
}

void divide(const at::Tensor& flat, int ranks, const Lacking& lacking) {
  const auto all = flat.view(-1);
  std::int64_t next = 0;
  const auto divide_to = [&](std::int64_t end, int by) {
    auto part = all.slice(0, next, end);
    flat.is_floating_point() ? part.div_(by) : part.div_(by, "trunc");
    next = end;
  };
  for (const auto& [first, count, missing] : lacking) {
    divide_to(first, ranks);
    divide_to(first + count, ranks - missing);
  }
  divide_to(all.numel(), ranks);
}

void expect_alike(const Tensors& outputs, const at::Tensor& input, std::size_t ranks,
                  const char* collective) {
  TORCH_CHECK(outputs.size() == ranks, collective,
              " takes a list of as many tensors as there are ranks: ", ranks, ", not ",
              outputs.size());
  for (const auto& output : outputs) {
    expect_cpu(output, collective);
    TORCH_CHECK(output.numel() == input.numel() && output.scalar_type() == input.scalar_type(),
                collective, " takes tensors of one size and type; there are ",
                described("one", input), " and ", described("one", output));
  }
}

void expect_share(const at::Tensor& all, const at::Tensor& one, int ranks, const char* collective) {
  TORCH_CHECK(all.numel() == one.numel() * ranks && all.scalar_type() == one.scalar_type(),
              collective, " takes tensors of one type, of which one is ", ranks,
              " times as long as the other; there are ", described("one", all), " and ",
              described("one", one));
}

}  // namespace tributary::pytorch
