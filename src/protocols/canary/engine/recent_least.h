// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace tributary::canary {

// Tells the least number that a sixteenth of the latest ones did not exceed, so that single smaller
// ones do not count. Every 512 numbers, those before weigh half.
class RecentLeast {
 public:
  void add(std::uint32_t number) {
    if (total_ == period) {
      fade();
    }
    ++total_;
    auto* const at = std::find_if(counts_.begin(), counts_.end(),
                                  [number](const Count& of) { return of.number >= number; });
    if (at == counts_.end()) {
      return;
    }
    if (at->number != number) {
      std::move_backward(at, counts_.end() - 1, counts_.end());  // the greatest gives way
      *at = {number, 0};
    }
    ++at->times;
  }
  // Returns 0 if there was no number.
  std::uint32_t value() const {
    std::uint32_t number = 0;
    std::uint32_t times = 0;
    for (const auto& count : counts_) {
      if (count.times == 0) {
        break;
      }
      number = count.number;
      times += count.times;
      if (times * share >= total_) {
        break;
      }
    }
    return number;
  }

 private:
  static constexpr std::size_t slots = 8;  // those of single ones and a few that count
  static constexpr std::uint32_t period = 1024;
  static constexpr std::uint32_t share = 16;
  static constexpr std::uint32_t none = 0xffffffff;
  struct Count {
    std::uint32_t number = none;
    std::uint32_t times = 0;
  };

  void fade() {
    total_ /= 2;
    for (auto& count : counts_) {
      count.times /= 2;
    }
    auto* const end = std::remove_if(counts_.begin(), counts_.end(),
                                     [](const Count& count) { return count.times == 0; });
    std::fill(end, counts_.end(), Count{});
  }

  std::array<Count, slots> counts_{};  // of the least numbers, in their order
  std::uint32_t total_ = 0;
};

}  // namespace tributary::canary
