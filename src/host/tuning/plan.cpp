// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/plan.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "host/text.h"

namespace tributary::host::tuning {
namespace {

// What hosts carry takes their processors and the links of others: it has to be faster than the
// switches by a tenth. That is more than measuring errs, mostly.
constexpr int clearly = 10;

// Tells whether hosts double, rather than go round the ring. Where only doubling is known it stands
// for the hosts up to the size that is left to it anyway.
bool doubling_is_faster(const CostTable& costs, std::size_t bytes) {
  const auto doubling = costs.time(Means::doubling, bytes);
  const auto ring = costs.time(Means::ring, bytes);
  return doubling && ring ? *doubling <= *ring : bytes <= doubling_bytes_max;
}

bool is_clearly_faster(std::optional<Duration> hosts, std::optional<Duration> carrier) {
  return hosts && carrier && *hosts < *carrier - *carrier / clearly;
}

}  // namespace

std::size_t Plan::class_of(std::size_t bytes) {
  const auto exponent = static_cast<std::size_t>(std::bit_width(bytes - (bytes != 0 ? 1 : 0)));
  return std::min(exponent, classes - 1);
}

// Doubling takes twice the vector's memory, so it does not go on for ever because two lines that
// were measured for short vectors never meet.
Plan::Plan(const CostTable& costs, std::size_t doubling_most) : Plan() {
  constexpr std::size_t times_measured = 8;
  doubling_most = std::min(
      doubling_most, std::max(doubling_bytes_max, times_measured * costs.largest(Means::doubling)));
  const auto compared =
      std::min(costs.largest(Means::carrier),
               std::max(costs.largest(Means::doubling), costs.largest(Means::ring)));
  bool doubles = true;
  doubling_up_to_ = 0;
  auto before = Means::carrier;
  for (std::size_t i = 0; i < classes; ++i) {
    const auto bytes = std::size_t{1} << i;
    doubles = doubles && bytes <= doubling_most && doubling_is_faster(costs, bytes);
    doubling_up_to_ = doubles ? bytes : doubling_up_to_;
    const auto hosts = doubles ? Means::doubling : Means::ring;
    const bool is_known = bytes <= compared || before != Means::carrier;
    if (is_known &&
        is_clearly_faster(costs.time(hosts, bytes), costs.time(Means::carrier, bytes))) {
      by_class_[i] = hosts;
    }
    before = by_class_[i];
  }
}

std::string Plan::text(std::string_view carrier) const {
  std::string text;
  for (std::size_t i = 0; i < classes; ++i) {
    if (i + 1 < classes && by_class_[i + 1] == by_class_[i]) {
      continue;
    }
    text += (text.empty() ? "" : ", ") + std::string(name(by_class_[i], carrier));
    text += i + 1 < classes                       ? " up to " + size_text(std::size_t{1} << i)
            : text.find(',') == std::string::npos ? " for all sizes"
                                                  : " beyond";
  }
  return text;
}

std::string_view name(Means means, std::string_view carrier) {
  return means == Means::carrier ? carrier : means == Means::doubling ? "doubling" : "ring";
}

}  // namespace tributary::host::tuning
