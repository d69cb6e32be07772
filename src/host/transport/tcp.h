// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/clock.h"
#include "host/error.h"
#include "host/job.h"
#include "host/transport/file_descriptor.h"
#include "wire/cursor.h"

namespace tributary::host {

// Blocking TCP with a deadline. All sockets are non-blocking underneath and without Nagle's delay.

struct Listener {
  FileDescriptor fd;
  Endpoint local;
};
// Port 0: any free one.
Result<Listener> listen_on(const Endpoint& local);

Result<FileDescriptor> accept_until(const Listener& listener, Time until);
// Tries again until somebody listens there. `local` unspecified: the kernel chooses.
Result<FileDescriptor> connect_until(const Endpoint& remote, wire::Ipv4Address local, Time until);

Result<void> send_all(int fd, wire::Bytes bytes, Time until);
Result<void> receive_all(int fd, wire::MutableBytes bytes, Time until);

// Waits for poll(2) events of one descriptor; false if `until` passed.
bool wait_for(int fd, short events, Time until);
// Milliseconds for poll(2), rounded up.
int poll_timeout(Time until);

}  // namespace tributary::host
