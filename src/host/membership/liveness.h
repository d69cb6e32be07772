// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::host {

// Has a TCP connection with a keeper break within about ten seconds where the other end's machine,
// or the way there, is gone without a word. A process that was only killed is missed at once.
void watch_over(int fd);

}  // namespace tributary::host
