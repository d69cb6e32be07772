// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::host {

// How many packets a worker may have on the way to be added up: Figure 5 of "In-Network Aggregation
// for Shared Machine Learning Clusters", which yields as DCTCP does. Results are implicit
// acknowledgments.
class CongestionWindow {
 public:
  static constexpr std::uint32_t initial = 2;

  // Without congestion control the window is what there is room for (the cap), no less.
  explicit CongestionWindow(bool congestion_control) : control_(congestion_control) {}

  // Before a new series of packets, for all of which there is room only in an initial window: the
  // first result tells for how many more. What was learned about congestion is kept.
  void restart() {
    cwnd_ = initial;
    received_ = marked_ = 0;
  }

  // A result came: whether a queue on the way was congested, and for how many packets there is
  // room.
  void result(bool marked, std::uint32_t cap) {
    cap_ = std::max(cap, 1u);
    if (!control_) {
      cwnd_ = cap_;
      return;
    }
    ++received_;
    marked_ += marked ? 1 : 0;
    if (received_ >= size()) {  // more than that where the cap has fallen
      adapt();
    }
    cwnd_ = std::min<double>(cwnd_, cap_);
  }

  std::uint32_t size() const { return static_cast<std::uint32_t>(cwnd_); }
  double cwnd() const { return cwnd_; }
  double ssthresh() const { return ssthresh_; }
  double alpha() const { return alpha_; }
  std::uint32_t cap() const { return cap_; }  // 0: not known

 private:
  static constexpr double g = 1.0 / 16;  // as in DCTCP

  // After a window of results. The figure does not say that ecn_count starts again with it.
  void adapt() {
    alpha_ = alpha_ * (1 - g) + g * marked_ / received_;
    if (marked_ == 0) {
      cwnd_ = cwnd_ < ssthresh_ ? 2 * cwnd_ : cwnd_ + 1;
    } else {
      cwnd_ = std::max(cwnd_ * (1 - alpha_ / 2), 1.0);
      ssthresh_ = cwnd_;
    }
    received_ = marked_ = 0;
  }

  bool control_;
  double cwnd_ = initial;
  double ssthresh_ = 64;
  double alpha_ = 1;
  std::uint32_t received_ = 0;  // rcvd_agg_packets
  std::uint32_t marked_ = 0;    // ecn_count
  std::uint32_t cap_ = 0;
};

}  // namespace tributary::host
