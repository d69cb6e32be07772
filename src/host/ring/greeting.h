// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "host/object_bytes.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"
#include "wire/endian.h"

namespace tributary::host {

// This comes first on every connection between ranks, from the one that made it.
struct [[gnu::packed]] Greeting {
  wire::be32 magic;  // what the connection is for
  wire::be32 job;
  wire::be32 rank;
  std::uint64_t tag = 0;

  static Greeting of(std::uint32_t magic, const Job& job, std::uint32_t rank) {
    Greeting greeting;
    greeting.magic = magic;
    greeting.job = job.id;
    greeting.rank = rank;
    greeting.tag = ring_tag(job.key, job.id, rank);
    return greeting;
  }
};
static_assert(sizeof(Greeting) == 20);

// A connection that another rank makes, and how it begins.
struct Awaited {
  FileDescriptor* fd;
  Greeting greeting;
};

// Waits until all have come; those that are left in `awaited` have not. An error of `wait` is
// returned as it is.
Result<void> accept_all(std::vector<Awaited>& awaited, const Listener& listener, Time until,
                        const Wait& wait);

}  // namespace tributary::host
