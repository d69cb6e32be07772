// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace tributary::host {

// A kernel answers what it gets though its application is busy, or stopped, and says when it has no
// room. So silence means that the other end's machine is gone, or that there is no way to it.

// Has the kernel ask over a TCP connection on which nothing is sent whether the other end is there,
// every `interval`. It gives the connection up only after 127 questions without an answer.
void keep_asking(int fd, std::chrono::seconds interval);

// Returns for how long the other end has answered nothing, though something was sent or asked four
// times or more; zero if it answers.
std::chrono::milliseconds silence_of(int fd);

}  // namespace tributary::host
