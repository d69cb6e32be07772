// SPDX-License-Identifier: BSD-3-Clause
#include "host/deadline.h"

#include "host/text.h"

namespace tributary::host {

Deadline Deadline::longer_by(Duration grace) const {
  auto longer = *this;
  longer.fixed_ = std::min(fixed_, never - grace) + grace;
  for (auto* stall : {&longer.stall_, &longer.stall_when_gone_}) {
    *stall = std::min(*stall, Duration::max() - grace) + grace;
  }
  longer.grace_ += grace;
  return longer;
}

Deadline Deadline::no_later_than(Time latest) const {
  auto earlier = *this;
  earlier.fixed_ = std::min(fixed_, latest);
  return earlier;
}

Deadline Deadline::impatient(Duration stall) const {
  auto impatient = *this;
  impatient.stall_ = std::min(stall_, stall);
  impatient.began_ = {};
  impatient.begin(Clock::now());
  return impatient;
}

std::string Deadline::explain(std::string_view what) const {
  std::string text(what);
  if (requested() < std::min(fixed_, stalls_at())) {
    return text + " did not finish by the deadline of its request, " +
           seconds_text(std::max(requested() - began_, Duration{})) + " after it began";
  }
  return stalls_at() < fixed_ ? text + " made no progress for " + seconds_text(stall())
                              : text + " did not finish within its deadline of " +
                                    seconds_text(std::max(fixed_ - began_, Duration{}));
}

}  // namespace tributary::host
