// SPDX-License-Identifier: BSD-3-Clause
#include "host/c/objects.h"

#include "host/text.h"

namespace tributary::host::c {

Result<void> usable(const tributary_comm* comm) {
  if (comm == nullptr) {
    return invalid("there is no communicator");
  }
  return comm->is_here() ? Result<void>()
                         : invalid(
                               "the communicator was made before this process forked, by its "
                               "parent; make another one here");
}

}  // namespace tributary::host::c
