// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "host/loose/rounds.h"

namespace tributary::test {

// The gradient of one layer that a rank computed in one iteration.
struct Gradient {
  std::uint32_t rank = 0;
  std::uint64_t iteration = 0;
  std::size_t layer = 0;

  auto operator<=>(const Gradient&) const = default;
};

// A model of which gradients have to be in which sum, computed from what ranks did and when they
// spoke. It has sets of gradients, and none of the messages, counters or masks of the code under
// test.
class LooseModel {
 public:
  LooseModel(std::uint32_t ranks, std::size_t layers, const host::LooseRule& rule)
      : layers_(layers), rule_(rule), begun_(ranks), spoken_(ranks), closed_(ranks, false) {}

  // These report what the ranks do.
  void begins(std::uint32_t rank, std::uint64_t iteration) { begun_[rank] = iteration; }
  void offers(const Gradient& gradient) { waiting_.insert(gradient); }
  void closes(std::uint32_t rank) { closed_[rank] = true; }
  // A rank takes part in the round with what it has done so far.
  void speaks(std::uint32_t rank, bool is_over);
  // Returns the ranks in each sum, by layer, when all ranks have spoken.
  std::map<std::size_t, std::set<std::uint32_t>> add_up();
  // A rank has got parameters.
  void pulled(std::uint32_t rank);

  // No gradient of a stale rank counts until it has been pulled.
  bool is_stale(std::uint32_t rank) const { return stale_.count(rank) != 0; }
  // Returns the first iteration of which not every layer is in a sum, or the next one if enough
  // layers are.
  std::uint64_t reached(std::uint32_t rank) const;
  std::uint64_t latest() const { return latest_; }
  std::size_t in_sums(std::uint32_t rank, std::uint64_t iteration) const;
  bool is_in_sum(const Gradient& gradient) const { return added_.count(gradient) != 0; }

 private:
  struct Spoken {
    std::optional<std::uint64_t> begun;
    std::uint64_t at = 0;  // the iteration that it is in or comes to
    std::set<Gradient> offers;
    bool closed = false;
  };

  std::uint64_t at(std::uint32_t rank) const;

  std::size_t layers_;
  host::LooseRule rule_;
  std::vector<std::optional<std::uint64_t>> begun_;
  std::vector<Spoken> spoken_;
  std::vector<bool> closed_;
  std::map<std::uint32_t, std::uint64_t> jumped_;  // where a rank was pulled to
  std::set<Gradient> waiting_;
  std::set<Gradient> added_;
  std::set<std::uint32_t> stale_;
  std::uint64_t latest_ = 0;
};

}  // namespace tributary::test
