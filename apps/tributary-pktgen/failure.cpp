// SPDX-License-Identifier: BSD-3-Clause
#include "failure.h"

#include <cstdio>

#include "exit_codes.h"

namespace tributary::pktgen {

int fail(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "tributary-pktgen: %s\n", message.c_str());
  return apps::exit_failed;
}

}  // namespace tributary::pktgen
