// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "packet/clock.h"

namespace tributary::netreduce {

// A rank of which no first packet came since its ring was set up. The switch may have been started
// anew in the middle of its messages: what comes from their middle must not pass without the sum.
// But so look other users' packets between the same two hosts, whose messages go on as well: which
// queue pairs are theirs shows as soon as one begins a message by them, and after a while it has
// to be believed.
class Newcomer {
 public:
  // The usual timer of a device, 4.3 s, runs out twice meanwhile.
  static constexpr Duration suspicion_max = std::chrono::seconds(10);

  // Whether a packet from the middle of a message may be the rank's; counted from the first time
  // that somebody asks.
  bool is_suspect(std::uint32_t queue_pair, Time now) {
    since_ = since_.value_or(now);
    return now - *since_ < suspicion_max && others_[place_of(queue_pair)] != queue_pair + 1;
  }
  // An ordinary message began by it.
  void note_other(std::uint32_t queue_pair) { others_[place_of(queue_pair)] = queue_pair + 1; }

 private:
  static constexpr std::size_t others_max = 64;
  static std::size_t place_of(std::uint32_t queue_pair) { return queue_pair % others_max; }

  std::optional<Time> since_;
  std::array<std::uint32_t, others_max> others_{};  // plus one, by place; 0: none
};

}  // namespace tributary::netreduce
