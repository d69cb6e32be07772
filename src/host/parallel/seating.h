// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tributary::host {

// Returns a number that processes which can share memory have alike, and others do not; 0: it
// cannot be found out. Such processes run as one user in one network namespace. Those that were
// given different addresses have an interface each, and are taken apart by that.
std::uint64_t machine_number(const std::string& given_address);

// Knows where the ranks of a communicator are: its machines, in the order of the first rank of
// each, and the ranks of one, in their order.
class Seating {
 public:
  // `numbers` has, by rank, a number for its machine; 0: the rank has a machine of its own.
  explicit Seating(std::span<const std::uint64_t> numbers);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(machine_of_.size()); }
  std::uint32_t machines() const { return static_cast<std::uint32_t>(ranks_of_.size()); }
  std::uint32_t machine_of(std::uint32_t rank) const { return machine_of_[rank]; }
  const std::vector<std::uint32_t>& ranks_of(std::uint32_t machine) const {
    return ranks_of_[machine];
  }
  // Returns the rank's place among those of its machine.
  std::uint32_t local_rank(std::uint32_t rank) const;
  // Tells whether any machine has several ranks.
  bool is_shared() const { return machines() != ranks(); }

 private:
  std::vector<std::uint32_t> machine_of_;             // by rank
  std::vector<std::vector<std::uint32_t>> ranks_of_;  // by machine
};

}  // namespace tributary::host
