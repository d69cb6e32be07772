// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "property/reference.h"
#include "wire/element.h"

namespace tributary::test {

// The possible results of a reduction that may lack some ranks: each packet of it is the reduction
// of at least `quorum` of the ranks.
class PartialSums {
 public:
  struct Reduction {
    const std::vector<Data>& inputs;  // by rank
    wire::ElementType type;
    wire::Operator op;
    std::size_t packet_bytes = 0;
    std::size_t quorum = 0;
  };
  explicit PartialSums(const Reduction& reduction) : reduction_(reduction) {}

  bool can_be(const Data& result);

 private:
  bool can_be(std::size_t from, const Data& packet);

  Reduction reduction_;
  std::map<std::size_t, std::vector<Data>> known_;  // possible packets, by their offsets
};

}  // namespace tributary::test
