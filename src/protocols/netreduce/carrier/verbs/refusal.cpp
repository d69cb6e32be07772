// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/verbs/refusal.h"

#include <cerrno>
#include <system_error>

namespace tributary::host::verbs {

tl::unexpected<Error> refused(const std::string& what, const std::string& device, int code) {
  const std::string hint =
      code == ENOMEM ? "; memory for RDMA is locked: try 'ulimit -l unlimited'" : "";
  return fail(Error::Code::network, "the RDMA device " + device + " refuses " + what + ": " +
                                        std::generic_category().message(code) + hint);
}

}  // namespace tributary::host::verbs
