// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <vector>

#include "bindings/pytorch/c10d.h"
#include "bindings/pytorch/communicator.h"
#include "bindings/pytorch/completions.h"
#include "bindings/pytorch/watch.h"

namespace tributary::pytorch {

// This is a group of c10d's whose reductions, broadcasts, gathers and barriers libtributary
// carries. All else goes by `rest`, a group of the same ranks. Which of them carries a collective
// follows from what all ranks have alike: the collective, the type of the elements and the
// operator.
class Group : public GroupBase {
 public:
  Group(const c10::intrusive_ptr<c10d::Store>& store, const Place& place,
        c10::intrusive_ptr<GroupBase> rest);
  ~Group() override;

  // Waits for what was posted, but not for ranks that are gone. Whatever comes later fails.
  void close();
  std::string algorithm();
  std::uint64_t statistic(const std::string& name);

  const std::string getBackendName() const override { return "tributary"; }

  WorkPtr allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPtr allreduce_coalesced(Tensors& tensors,
                              const c10d::AllreduceCoalescedOptions& options) override;
  WorkPtr reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPtr broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPtr barrier(const c10d::BarrierOptions& options) override;
  WorkPtr allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                    const c10d::AllgatherOptions& options) override;
  WorkPtr _allgather_base(at::Tensor& output, at::Tensor& input,
                          const c10d::AllgatherOptions& options) override;
  WorkPtr reduce_scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                         const c10d::ReduceScatterOptions& options) override;
  WorkPtr _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                               const c10d::ReduceScatterOptions& options) override;

  WorkPtr allgather_coalesced(std::vector<Tensors>& outputs, Tensors& inputs,
                              const c10d::AllgatherOptions& options) override;
  WorkPtr gather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::GatherOptions& options) override;
  WorkPtr scatter(Tensors& outputs, std::vector<Tensors>& inputs,
                  const c10d::ScatterOptions& options) override;
  WorkPtr alltoall_base(at::Tensor& output, at::Tensor& input,
                        std::vector<std::int64_t>& output_sizes,
                        std::vector<std::int64_t>& input_sizes,
                        const c10d::AllToAllOptions& options) override;
  WorkPtr alltoall(Tensors& outputs, Tensors& inputs,
                   const c10d::AllToAllOptions& options) override;
  WorkPtr send(Tensors& tensors, int to, int tag) override;
  WorkPtr recv(Tensors& tensors, int from, int tag) override;
  WorkPtr recvAnysource(Tensors& tensors, int tag) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_for_all) override;
  void setSequenceNumberForGroup() override;
  std::uint64_t getSequenceNumberForGroup() override;

 private:
  using Post = std::function<tributary_result(tributary_comm*, tributary_request**)>;
  struct Draft;

  WorkPtr post(Draft draft, const std::vector<Post>& posts);
  std::string explain(tributary_result result, const std::string& reason) const;

  c10::intrusive_ptr<GroupBase> rest_;
  std::mutex mutex_;
  bool closed_ = false;                    // after closing nothing is posted
  std::shared_mutex communicator_in_use_;  // shared by who asks it for figures
  Communicator communicator_;
  std::unique_ptr<Completions> completions_;
  std::unique_ptr<Watch> watch_;  // null: there is nobody else
};

}  // namespace tributary::pytorch
