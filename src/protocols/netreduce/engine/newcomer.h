// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "packet/clock.h"

namespace tributary::netreduce {

// No first packet of a newcomer came since its ring was set up. The switch may have been started
// anew in the middle of its messages, so what comes from their middle must not pass without the
// sum. But other users' packets between the same two hosts look alike, and their messages go on as
// well. A queue pair is known to be theirs as soon as an ordinary message begins by it, and after a
// while all queue pairs have to be taken for theirs.
class Newcomer {
 public:
  // The usual timer of a device, 4.3 s, runs out twice meanwhile.
  static constexpr Duration suspicion_max = std::chrono::seconds(10);

  // Returns whether a packet from the middle of a message may be the rank's. The time counts from
  // the first time that somebody asks.
  bool is_suspect(std::uint32_t queue_pair, Time now) {
    since_ = since_.value_or(now);
    return now - *since_ < suspicion_max && others_[place_of(queue_pair)] != queue_pair + 1;
  }
  // Notes that an ordinary message began by that queue pair.
  void note_other(std::uint32_t queue_pair) { others_[place_of(queue_pair)] = queue_pair + 1; }

 private:
  static constexpr std::size_t others_max = 64;
  static std::size_t place_of(std::uint32_t queue_pair) { return queue_pair % others_max; }

  std::optional<Time> since_;
  std::array<std::uint32_t, others_max> others_{};  // the queue pair plus one, by place; 0: none
};

}  // namespace tributary::netreduce
