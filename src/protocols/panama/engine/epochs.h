// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "protocols/panama/wire.h"

namespace tributary::panama {

// This is one collective of one run of a job.
struct Round {
  std::uint32_t run = 0;
  std::uint32_t epoch = 0;

  friend bool operator==(const Round&, const Round&) = default;
};
inline Round round_of(const wire::PanamaHeader& header) {
  return {header.run.value(), header.epoch.value()};
}

// Puts a tree's packets on one line: VIDs begin anew with every epoch, positions go on. So a packet
// and the one that takes its place in a table of fixed size are apart by the table's size also
// where epochs lie between them. Epochs are remembered of the latest run only.
class Epochs {
 public:
  // `first` is the position of its VID 0.
  void begin(const Round& round, std::uint64_t first) {
    if (round.run != run_) {
      run_ = round.run;
      known_ = 0;
    }
    latest_ = known_ == 0 ? 0 : (latest_ + 1) % remembered;
    known_ += known_ < remembered ? 1 : 0;
    spans_[latest_] = {round.epoch, first};
    const auto is_same = [&round](const Span& span) { return span.epoch == round.epoch; };
    is_again_ = std::count_if(spans_.begin(), spans_.begin() + known_, is_same) > 1;
  }

  bool any() const { return known_ != 0; }
  std::uint32_t current() const { return spans_[latest_].epoch; }
  std::uint64_t first() const { return spans_[latest_].first; }
  bool is_current(const Round& round) const {
    return is_of_this_run(round) && current() == round.epoch;
  }
  // Returns whether the current epoch was begun before, and left.
  bool is_again() const { return is_again_; }
  bool is_of_this_run(const Round& round) const { return any() && round.run == run_; }
  // Returns whether it is newer, of the same run, in the arithmetic of sequence numbers (RFC 1982).
  bool is_newer(const Round& round) const {
    return is_of_this_run(round) && static_cast<std::int32_t>(round.epoch - current()) > 0;
  }

  // Returns the position of a VID where `is_known(position)`. An epoch that was left before it was
  // over has no more positions than the next one left to it, and has others if it was begun again.
  template <typename IsKnown>
  std::optional<std::uint64_t> find(const Round& round, std::uint32_t vid, IsKnown is_known) const {
    if (!is_of_this_run(round)) {
      return std::nullopt;
    }
    // This is so almost always: nothing else has to be looked at.
    if (round.epoch == current() && !is_again_) {
      const auto position = first() + vid;
      return is_known(position) ? std::optional(position) : std::nullopt;
    }
    auto end = ~std::uint64_t{0};
    for (std::uint32_t back = 0; back < known_; ++back) {
      const auto& span = spans_[(latest_ + remembered - back) % remembered];
      const auto position = span.first + vid;
      if (span.epoch == round.epoch && position < end && is_known(position)) {
        return position;
      }
      end = span.first;
    }
    return std::nullopt;
  }
  // Returns where the latest panama_epochs_apart epochs begin, as far as there are so many.
  std::uint64_t oldest() const {
    const auto back = known_ == 0 ? 0 : std::min(known_, wire::panama_epochs_apart) - 1;
    return spans_[(latest_ + remembered - back) % remembered].first;
  }

 private:
  static constexpr std::uint32_t remembered = wire::panama_epochs_kept;
  struct Span {
    std::uint32_t epoch = 0;
    std::uint64_t first = 0;
  };
  std::array<Span, remembered> spans_{};
  std::uint32_t run_ = 0;
  std::uint32_t latest_ = 0;
  std::uint32_t known_ = 0;
  bool is_again_ = false;  // the latest epoch is remembered from before, too
};

}  // namespace tributary::panama
