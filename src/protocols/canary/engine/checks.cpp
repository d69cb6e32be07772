// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/checks.h"

namespace tributary::canary {

DropReason drop_reason_of(wire::CanaryError error) {
  switch (error) {
    case wire::CanaryError::truncated:
      return DropReason::canary_truncated;
    case wire::CanaryError::oversized:
      return DropReason::canary_oversized;
    case wire::CanaryError::version:
      return DropReason::canary_version;
    case wire::CanaryError::crc:
      return DropReason::canary_crc;
    case wire::CanaryError::malformed:
    case wire::CanaryError::none:
      break;
  }
  return DropReason::canary_malformed;
}

}  // namespace tributary::canary
