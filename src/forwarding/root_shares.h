// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::forwarding {

// How much each next hop of a group keeps of the blocks for which it is the default root, by what
// their results say of the queues on their way. A hop whose blocks meet with more congestion than
// those of the others gives blocks up by that difference, as a sender of DCTCP (RFC 8257) does with
// its window by what is marked, and gets them back step by step. Where all are congested alike, and
// another root is of no use, it is the hosts that yield. All who take part in a block get the same
// result, so that their switches give up the same blocks, or nearly.
class RootShares {
 public:
  // Of all, in 1/65536.
  static constexpr std::uint32_t all = 1u << 16;
  // So that a hop is tried again, and never left alone by those who cannot see what others can.
  static constexpr std::uint32_t least = all / 64;

  // Of a group of so many hops.
  explicit RootShares(std::size_t hops = 0) : roots_(hops) {}

  // A result came of a block whose default root that was. `up`: which hops of the group can be
  // chosen, that one among them.
  void note(std::size_t root, bool congested, const std::vector<bool>& up);
  // Whether the block with this hash stays with it.
  bool keeps(std::size_t root, std::uint32_t hash) const {
    return !reduced_ || (hash & (all - 1)) < roots_[root].share;
  }
  // Some hop does not keep all.
  bool reduced() const { return reduced_; }
  std::uint32_t share(std::size_t root) const { return reduced_ ? roots_[root].share : all; }

 private:
  struct Root {
    std::uint32_t share = all;
    std::uint32_t congested = 0;  // of its latest results, in 1/65536
    std::uint32_t results = 0;    // since the share was looked at
    bool heard_of = false;        // a result came; else nobody knows what is on its way
  };
  void judge(Root& root, const std::vector<bool>& up);

  std::vector<Root> roots_;  // by hop
  bool reduced_ = false;
};

}  // namespace tributary::forwarding
