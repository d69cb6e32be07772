// SPDX-License-Identifier: BSD-3-Clause
#include "host/deadline.h"

#include <array>
#include <chrono>
#include <cstdio>

namespace tributary::host {
namespace {

// To the millisecond: what was asked for was taken up a little later.
std::string seconds(Duration duration) {
  const auto whole = std::chrono::round<std::chrono::milliseconds>(duration);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g s", std::chrono::duration<double>(whole).count());
  return text.data();
}

}  // namespace

Deadline Deadline::longer_by(Duration grace) const {
  auto longer = *this;
  longer.fixed_ = std::min(fixed_, never - grace) + grace;
  longer.stall_ = std::min(stall_, Duration::max() - grace) + grace;
  return longer;
}

std::string Deadline::explain(std::string_view what) const {
  std::string text(what);
  return stalls_at() < fixed_ ? text + " made no progress for " + seconds(stall_)
                              : text + " did not finish within its deadline of " +
                                    seconds(std::max(fixed_ - began_, Duration{}));
}

}  // namespace tributary::host
