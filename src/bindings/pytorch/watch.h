// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "bindings/pytorch/c10d.h"

namespace tributary::pytorch {

// A Watch notices that another rank has ended, by the connections that the group for everything
// else has: what switches carry has none, and would be waited for as long as the group's time limit
// says. Each rank looks after the next one, and tells the rank before what it has seen, or was
// told.
class Watch {
 public:
  // `on_gone` is called once, a while after a rank has gone: what it had sent before has come then.
  Watch(c10::intrusive_ptr<GroupBase> connections, std::function<void()> on_gone);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  // Returns "rank 3 has ended: ...", or an empty text as long as all are there.
  std::string gone() const;

 private:
  void serve();
  // Returns which rank has gone, when one has; no value if this object goes.
  std::optional<int> wait_for_news(std::string& reason);
  void tell(int gone);

  const c10::intrusive_ptr<GroupBase> connections_;
  const std::function<void()> on_gone_;
  const int next_;
  const int before_;
  Tensors news_;  // the number of the rank that has gone
  WorkPtr receive_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  WorkPtr send_;
  std::string gone_;
  bool ending_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace tributary::pytorch
