// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <ATen/core/ivalue.h>
#include <exception>
#include <vector>

#include "bindings/pytorch/c10d.h"

namespace tributary::pytorch {

// Whoever has posted a collective waits for its PendingWork.
class PendingWork : public c10d::Work {
 public:
  PendingWork(int rank, c10d::OpType type, const char* title, const Tensors& inputs,
              Tensors outputs);

  Tensors result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

  // Is called once; null: it was a success. What hangs on the future runs within the call.
  void end(std::exception_ptr error);

 private:
  const Tensors outputs_;
  const c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace tributary::pytorch
