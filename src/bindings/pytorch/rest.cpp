// SPDX-License-Identifier: BSD-3-Clause
// libtributary does not carry these.
#include "bindings/pytorch/group.h"

namespace tributary::pytorch {

WorkPtr Group::allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                                   const c10d::AllgatherOptions& options) {
  return rest_->allgather_coalesced(outputs, inputs, options);
}

WorkPtr Group::gather(std::vector<Tensors>& outputs, Tensors& inputs,
                      const c10d::GatherOptions& options) {
  return rest_->gather(outputs, inputs, options);
}

WorkPtr Group::scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                       const c10d::ScatterOptions& options) {
  return rest_->scatter(outputs, inputs, options);
}

WorkPtr Group::alltoall_base(at::Tensor& output, at::Tensor& input,
                             std::vector<std::int64_t>& output_sizes,
                             std::vector<std::int64_t>& input_sizes,
                             const c10d::AllToAllOptions& options) {
  return rest_->alltoall_base(output, input, output_sizes, input_sizes, options);
}

WorkPtr Group::alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) {
  return rest_->alltoall(outputs, inputs, options);
}

WorkPtr Group::send(Tensors& tensors, int to, int tag) {
  return rest_->send(tensors, to, tag);
}

WorkPtr Group::recv(Tensors& tensors, int from, int tag) {
  return rest_->recv(tensors, from, tag);
}

WorkPtr Group::recvAnysource(Tensors& tensors, int tag) {
  return rest_->recvAnysource(tensors, tag);
}

void Group::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_for_all) {
  rest_->monitoredBarrier(options, wait_for_all);
}

void Group::setSequenceNumberForGroup() {
  rest_->setSequenceNumberForGroup();
}

std::uint64_t Group::getSequenceNumberForGroup() {
  return rest_->getSequenceNumberForGroup();
}

}  // namespace tributary::pytorch
