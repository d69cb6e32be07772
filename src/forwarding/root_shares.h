// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::forwarding {

// RootShares says how much each next hop of a group keeps of the blocks for which it is the default
// root, by what their results say of the queues on their way. A hop whose blocks meet with more
// congestion than those of the others gives blocks up by that difference, as a sender of DCTCP (RFC
// 8257) does with its window by what is marked, and gets them back step by step. Where all are
// congested alike, and another root is of no use, it is the hosts that yield. All who take part in
// a block get the same result, so that their switches give up the same blocks, or nearly. A hop on
// a slower line never keeps more than that line carries beside the fastest.
class RootShares {
 public:
  // Shares are in 1/65536.
  static constexpr std::uint32_t all = 1u << 16;
  // A hop keeps so much that it is tried again, and never left alone by those who cannot see what
  // others can.
  static constexpr std::uint32_t least = all / 64;

  // The group has so many hops.
  explicit RootShares(std::size_t hops = 0) : roots_(hops) {}

  // Says how fast the line to each hop is; 0: as fast as the fastest.
  void weigh(const std::vector<std::uint64_t>& rates_bps);
  // Notes a result of a block whose default root was `root`. `up` says which hops of the group can
  // be chosen, that one among them.
  void note(std::size_t root, bool congested, const std::vector<bool>& up);
  // Says whether the block with this hash stays with its root.
  bool keeps(std::size_t root, std::uint32_t hash) const {
    return !reduced_ || (hash & (all - 1)) < roots_[root].share;
  }
  // Says whether some hop does not keep all of its blocks.
  bool reduced() const { return reduced_; }
  std::uint32_t share(std::size_t root) const { return reduced_ ? roots_[root].share : all; }

 private:
  struct Root {
    std::uint32_t most = all;  // by the rate of its line
    std::uint32_t share = all;
    std::uint32_t congested = 0;  // share of its latest results, in 1/65536
    std::uint32_t results = 0;    // since the share was last changed
    bool heard_of = false;        // a result came; else nobody knows what is on its way
  };
  void judge(Root& root, const std::vector<bool>& up);
  void look_for_reduced();

  std::vector<Root> roots_;  // by hop
  bool reduced_ = false;
};

}  // namespace tributary::forwarding
