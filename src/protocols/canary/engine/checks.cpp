// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/checks.h"

#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {

DropReason drop_reason_of(wire::CanaryError error) {
  switch (error) {
    case wire::CanaryError::truncated:
      return drop::truncated;
    case wire::CanaryError::oversized:
      return drop::oversized;
    case wire::CanaryError::version:
      return drop::version;
    case wire::CanaryError::crc:
      return drop::crc;
    case wire::CanaryError::malformed:
    case wire::CanaryError::none:
      break;
  }
  return drop::malformed;
}

}  // namespace tributary::canary
