// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <string>

#include "packet/fate.h"
#include "protocols/engines.h"

namespace tributary::test {

// Returns what operators see: "no_route", "canary_crc"; empty if there is no such reason.
inline std::string name_of(DropReason reason) {
  const auto all = protocols::drop_reasons();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [reason](const auto& each) { return each.first == reason; });
  return found == all.end() ? std::string() : found->second;
}

}  // namespace tributary::test
