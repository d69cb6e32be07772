// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace tributary::host {

// Ends the error of a collective that may be stuck because full packets do not pass any more.
inline constexpr auto smaller_path =
    "; where all ranks run and pings pass, a link has a smaller MTU than when the ranks met: a new "
    "communicator finds the size that passes";

// Searches for the largest packet that passes between all ranks, where the largest that their
// interfaces take does not. It goes as Datagram Packetization Layer Path MTU Discovery (section 5.3
// of RFC 8899): first it tries the base, then it halves. All ranks make the same steps, as each
// step passes for all of them or does not pass. Sizes are multiples of `step`.
class PathSearch {
 public:
  // `full` is known not to pass. A base that is not below it leaves nothing to search for.
  PathSearch(std::uint32_t base, std::uint32_t full, std::uint32_t step)
      : base_(base), too_large_(full), step_(step) {}

  // Returns the size to try next; nothing when the search is over.
  std::optional<std::uint32_t> next() const {
    if (passes_ == 0) {
      return base_ < too_large_ ? std::optional(base_) : std::nullopt;
    }
    const auto steps = (too_large_ - passes_) / step_;
    return steps > 1 ? std::optional(passes_ + steps / 2 * step_) : std::nullopt;
  }
  // Notes whether the size of next() passes.
  void note(bool passes) {
    if (const auto tried = next()) {
      (passes ? passes_ : too_large_) = *tried;
    }
  }
  // Returns the largest size that passes; 0: none is known to.
  std::uint32_t found() const { return passes_; }

 private:
  std::uint32_t base_;
  std::uint32_t too_large_;
  std::uint32_t step_;
  std::uint32_t passes_ = 0;
};

}  // namespace tributary::host
