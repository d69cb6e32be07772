// SPDX-License-Identifier: BSD-3-Clause
// This file takes the place of verbs_link.cpp where there is no libibverbs.
#include "protocols/netreduce/carrier/verbs/verbs_link.h"

namespace tributary::host {

Result<std::unique_ptr<VerbsLink>> open_verbs_link(const RdmaPlace& place, const NetReducePlan&) {
  return fail(Error::Code::invalid_argument,
              "the RDMA device " + place.device +
                  " cannot be used: this library was built without libibverbs (libibverbs-dev)");
}

}  // namespace tributary::host
