// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "packet/pool.h"
#include "protocols/panama/engine/tree.h"

namespace tributary::panama {

// Adds up what waits in a row in the children's order, not in that of arrival, so that the same
// contributions give the same bits.
class Adder {
 public:
  explicit Adder(PacketPool& pool);

  // Adds what can be added by now: what comes first need not wait in a cache for the last.
  void add_in_order(Tree& tree, Row& row);
  // Adds all that is there. Returns null where there is no packet for the sum.
  PacketPtr add_up(Tree& tree, Row& row);

 private:
  PacketPool& pool_;
  std::unique_ptr<float[]> wide_;  // an accumulator of floats of 16 and 8 bits
};

}  // namespace tributary::panama
