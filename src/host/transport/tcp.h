// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "system/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// This is blocking TCP with a deadline. All sockets are non-blocking underneath and without Nagle's
// delay.

struct Listener {
  FileDescriptor fd;
  Endpoint local;
};
// Listens at the port of `local`; 0: at any free one.
Result<Listener> listen_on(const Endpoint& local);

// Waits for poll(2) events of one descriptor, or with -1 for nothing; false if `until` passed. An
// error ends the call that waits.
using Wait = std::function<Result<bool>(int fd, short events, Time until)>;
// Waits for nothing else, and never fails.
Result<bool> wait_alone(int fd, short events, Time until);

// Returns who has connected already; no descriptor, and errno set, if nobody has.
FileDescriptor accept_now(const Listener& listener);
Result<FileDescriptor> accept_until(const Listener& listener, Time until,
                                    const Wait& wait = wait_alone);
enum class WhenRefused : std::uint8_t { try_again, give_up };
// Without `local` the kernel chooses it. Tries again until it is connected; `refused`
// says what to do where nobody listens.
Result<FileDescriptor> connect_until(const Endpoint& remote,
                                     const std::optional<wire::IpAddress>& local, Time until,
                                     const Wait& wait = wait_alone,
                                     WhenRefused refused = WhenRefused::try_again);

Result<void> send_all(int fd, wire::Bytes bytes, Time until, const Wait& wait = wait_alone);
Result<void> receive_all(int fd, wire::MutableBytes bytes, Time until,
                         const Wait& wait = wait_alone);

bool wait_for(int fd, short events, Time until);
// Returns milliseconds for poll(2), rounded up.
int poll_timeout(Time until);

}  // namespace tributary::host
