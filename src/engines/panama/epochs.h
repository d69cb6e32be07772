// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace tributary::panama {

// A tree's packets on one line: VIDs begin anew with every epoch, positions go on. So a packet and
// the one that takes its place in a table of fixed size are apart by the table's size also where
// epochs lie between them.
class Epochs {
 public:
  // `first` is the position of its VID 0.
  void begin(std::uint32_t epoch, std::uint64_t first) {
    latest_ = known_ == 0 ? 0 : (latest_ + 1) % remembered;
    known_ += known_ < remembered ? 1 : 0;
    spans_[latest_] = {epoch, first};
  }

  bool any() const { return known_ != 0; }
  std::uint32_t current() const { return spans_[latest_].epoch; }
  std::uint64_t first() const { return spans_[latest_].first; }
  bool is_current(std::uint32_t epoch) const { return any() && current() == epoch; }
  // In the arithmetic of sequence numbers (RFC 1982).
  bool is_newer(std::uint32_t epoch) const {
    return !any() || static_cast<std::int32_t>(epoch - current()) > 0;
  }

  bool is_remembered(std::uint32_t epoch) const {
    const auto end = spans_.begin() + known_;
    return std::any_of(spans_.begin(), end,
                       [epoch](const Span& span) { return span.epoch == epoch; });
  }

  // The position of a VID where `is_known(position)`. An epoch that was left before it was over has
  // no more positions than the next one left to it, and has others if it was begun again.
  template <typename IsKnown>
  std::optional<std::uint64_t> find(std::uint32_t epoch, std::uint32_t vid,
                                    IsKnown is_known) const {
    auto end = ~std::uint64_t{0};
    for (std::uint32_t back = 0; back < known_; ++back) {
      const auto& span = spans_[(latest_ + remembered - back) % remembered];
      const auto position = span.first + vid;
      if (span.epoch == epoch && position < end && is_known(position)) {
        return position;
      }
      end = span.first;
    }
    return std::nullopt;
  }
  // Where what is remembered begins.
  std::uint64_t oldest() const {
    return known_ < remembered ? spans_[0].first : spans_[(latest_ + 1) % remembered].first;
  }

 private:
  static constexpr std::uint32_t remembered = 8;
  struct Span {
    std::uint32_t epoch = 0;
    std::uint64_t first = 0;
  };
  std::array<Span, remembered> spans_{};
  std::uint32_t latest_ = 0;
  std::uint32_t known_ = 0;
};

}  // namespace tributary::panama
