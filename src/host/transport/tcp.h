// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "system/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// Blocking TCP with a deadline. All sockets are non-blocking underneath and without Nagle's delay.

struct Listener {
  FileDescriptor fd;
  Endpoint local;
};
// Port 0: any free one.
Result<Listener> listen_on(const Endpoint& local);

// Waits for poll(2) events of one descriptor, or with -1 for nothing; false if `until` passed. An
// error ends the call that waits.
using Wait = std::function<Result<bool>(int fd, short events, Time until)>;
// Looks at nothing else meanwhile, and never fails.
Result<bool> wait_alone(int fd, short events, Time until);

// Who has connected already; without a descriptor, and errno set, if nobody has.
FileDescriptor accept_now(const Listener& listener);
Result<FileDescriptor> accept_until(const Listener& listener, Time until,
                                    const Wait& wait = wait_alone);
enum class WhenRefused : std::uint8_t { try_again, give_up };
// `local` unspecified: the kernel chooses. Tries again until it is connected; where nobody listens
// as is said.
Result<FileDescriptor> connect_until(const Endpoint& remote, wire::Ipv4Address local, Time until,
                                     const Wait& wait = wait_alone,
                                     WhenRefused refused = WhenRefused::try_again);

Result<void> send_all(int fd, wire::Bytes bytes, Time until, const Wait& wait = wait_alone);
Result<void> receive_all(int fd, wire::MutableBytes bytes, Time until,
                         const Wait& wait = wait_alone);

bool wait_for(int fd, short events, Time until);
// Milliseconds for poll(2), rounded up.
int poll_timeout(Time until);

}  // namespace tributary::host
