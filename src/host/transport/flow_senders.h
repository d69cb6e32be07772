// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <vector>

#include "host/error.h"
#include "system/file_descriptor.h"
#include "wire/ip_address.h"

namespace tributary::host {

// Opens sockets by `open`, one for each wire::flow_of(), so that source ports tell blocks apart; no
// privileges are needed for that. Each is bound to a source port of its flow, as far as they are
// free: every worker on a host has its own.
Result<std::vector<FileDescriptor>> open_flow_senders(
    const wire::IpAddress& local, const std::function<Result<FileDescriptor>()>& open);

}  // namespace tributary::host
