// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "host/statistics.h"
#include "host/verdict.h"

namespace tributary::host {

// Counts the packets that a machine was handed and did not take, by its verdict on them.
class IgnoredPackets {
 public:
  // Precondition: the verdict is not `taken`.
  std::uint64_t operator[](Verdict verdict) const { return counted_[index_of(verdict)]; }
  std::uint64_t total() const;
  void count(Verdict verdict) {
    if (verdict != Verdict::taken) {
      ++counted_[index_of(verdict)];
    }
  }
  // Adds "ignored_malformed" and so on.
  void add_to(Figures& figures) const;

 private:
  static std::size_t index_of(Verdict verdict) { return static_cast<std::size_t>(verdict) - 1; }

  std::array<std::uint64_t, static_cast<std::size_t>(Verdict::early)> counted_{};
};

}  // namespace tributary::host
