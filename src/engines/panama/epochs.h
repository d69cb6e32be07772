// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

  // The position of VID 0 of an epoch that is remembered.
  std::optional<std::uint64_t> find(std::uint32_t epoch) const {
    if (is_current(epoch)) {
      return first();
    }
    for (std::uint32_t back = 1; back < known_; ++back) {
      const auto& span = spans_[(latest_ + remembered - back) % remembered];
      if (span.epoch == epoch) {
        return span.first;
      }
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
