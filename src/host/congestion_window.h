// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::host {

// Has what differs between the protocols that use a CongestionWindow.
struct WindowRule {
  std::uint32_t start = 2;
  double ssthresh = 64;  // to begin with
  // If true, a round ends with the results of the packets that were on the way when the window
  // changed, as in DCTCP (RFC 8257, 3.3), so that the window yields once to what they meet.
  // Otherwise, as in the figure, a round ends after as many results as the window then is, and
  // those that are still on the way after a mark shrink it again.
  bool whole_round_trips = false;
};

// Bounds how many packets a worker may have on the way to be added up. It is that of Figure 5 of
// "In-Network Aggregation for Shared Machine Learning Clusters", and yields as DCTCP does. Results
// are implicit acknowledgments.
class CongestionWindow {
 public:
  static constexpr std::uint32_t initial = WindowRule{}.start;  // as in the figure

  // Without congestion control the window is what there is room for (the cap), no less.
  explicit CongestionWindow(bool congestion_control, const WindowRule& rule = {})
      : control_(congestion_control),
        rule_(rule),
        cwnd_(rule.start),
        ssthresh_(rule.ssthresh),
        round_(rule.start) {}

  // Is called before a new series of packets. There is room only for those of an initial window;
  // the first result tells for how many more. If no queue has marked that result, the window is
  // again what it was.
  void restart() {
    kept_ = std::max(kept_, cwnd_);
    round_ = rule_.start;
    cwnd_ = rule_.start;
    received_ = marked_ = 0;
    full_ = false;
  }

  // Notes a result: whether a queue on the way was congested (`marked`), and for how many packets
  // there is room (`cap`). `full` tells that the sender had waited for the window. Otherwise the
  // window does not grow, and the cap bounds what may be sent, but does not shrink the window
  // itself.
  void result(bool marked, std::uint32_t cap, bool full = true) {
    cap_ = std::max(cap, 1u);
    if (!control_) {
      cwnd_ = cap_;
      return;
    }
    if (!marked) {
      cwnd_ = std::max(cwnd_, kept_);
    }
    kept_ = 0;
    ++received_;
    marked_ += marked ? 1 : 0;
    full_ |= full;
    if (received_ >= (rule_.whole_round_trips ? round_ : size())) {  // more if the cap has fallen
      adapt();
    }
    if (full) {
      cwnd_ = std::min<double>(cwnd_, cap_);
    }
  }

  std::uint32_t size() const {
    const auto whole = static_cast<std::uint32_t>(cwnd_);
    return cap_ == 0 ? whole : std::min(whole, cap_);
  }
  double cwnd() const { return cwnd_; }
  double ssthresh() const { return ssthresh_; }
  double alpha() const { return alpha_; }
  std::uint32_t cap() const { return cap_; }  // 0: not known

 private:
  static constexpr double g = 1.0 / 16;  // as in DCTCP

  // Is called after a round. The figure does not say that ecn_count starts again with it.
  void adapt() {
    round_ = size();
    alpha_ = alpha_ * (1 - g) + g * marked_ / received_;
    if (marked_ != 0) {
      cwnd_ = std::max(cwnd_ * (1 - alpha_ / 2), 1.0);
      ssthresh_ = cwnd_;
    } else if (full_) {
      cwnd_ = cwnd_ < ssthresh_ ? 2 * cwnd_ : cwnd_ + 1;
    }
    received_ = marked_ = 0;
    full_ = false;
  }

  bool control_;
  WindowRule rule_;
  double cwnd_;
  double kept_ = 0;  // the window before a restart, until the first result
  double ssthresh_;
  double alpha_ = 1;
  std::uint32_t received_ = 0;  // rcvd_agg_packets
  std::uint32_t marked_ = 0;    // ecn_count
  std::uint32_t round_;         // packets that were on the way when the round began
  bool full_ = false;           // whether any result of the round came to a full window
  std::uint32_t cap_ = 0;
};

}  // namespace tributary::host
