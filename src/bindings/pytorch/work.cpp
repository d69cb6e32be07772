// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/pytorch/work.h"

#include <utility>

namespace tributary::pytorch {

PendingWork::PendingWork(int rank, c10d::OpType type, const char* title, const Tensors& inputs,
                         Tensors outputs)
    : Work(rank, type, title, inputs),
      outputs_(std::move(outputs)),
      future_(
          c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()))) {
}

void PendingWork::end(std::exception_ptr error) {
  if (error) {
    future_->setError(error);
  } else {
    future_->markCompleted(c10::IValue(outputs_));
  }
  finish(error);
}

}  // namespace tributary::pytorch
