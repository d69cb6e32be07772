// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::host {

// Of a TCP connection with a keeper: it breaks within about ten seconds where the other end's
// machine, or the way there, is gone without a word. Who only was killed is missed at once.
void watch_over(int fd);

}  // namespace tributary::host
