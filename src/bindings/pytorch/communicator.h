// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "bindings/pytorch/c10d.h"
#include "host/c/tributary.h"

namespace tributary::pytorch {

// A Place tells where a rank of a group is, and what it is told beside what its environment says.
struct Place {
  int rank = 0;
  int size = 1;
  bool is_part = false;  // of a job: what is set up for the job alone is not for this group
  std::map<std::string, std::string> variables;
};

// This is libtributary's communicator, whose ranks meet by the store.
class Communicator {
 public:
  Communicator(c10d::Store& store, const Place& place);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { close(); }

  // Waits for what was posted, and for the other ranks, up to two seconds.
  void close();

  // Returns null when it is closed.
  tributary_comm* get() const { return comm_; }

 private:
  tributary_comm* comm_ = nullptr;
};

// Returns "TRIBUTARY_TIMEOUT: ...", for what this thread has just called.
std::string failure_text(tributary_result result);

}  // namespace tributary::pytorch
