// SPDX-License-Identifier: BSD-3-Clause
#include "property/explanations.h"

#include <regex>

namespace tributary::test {

bool names_missing(const std::string& message, std::uint32_t rank) {
  const auto number = std::to_string(rank);
  const std::regex name("(no contribution of|wait(s|ed) for) ranks? ([0-9]+, )*" + number +
                        "\\b|\\brank " + number + " does not answer");
  return std::regex_search(message, name);
}

bool says_what_is_lost(const std::string& message, bool restarted) {
  static const std::regex late(
      "message [0-9]+ of [0-9]+ \\(number [0-9]+ of the run\\) did not come from the rank before; "
      "[0-9]+ were sent, [0-9]+ of them acknowledged|"
      "did not acknowledge packet [0-9]+, sent [0-9]+ times");
  static const std::regex forgotten("was it restarted|was a switch restarted meanwhile");
  return std::regex_search(message, late) || (restarted && std::regex_search(message, forgotten));
}

}  // namespace tributary::test
