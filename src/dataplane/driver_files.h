// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <sys/stat.h>
#include <vector>

#include "control/config.h"

namespace tributary::dataplane {

// Returns the files, in DPDK's directory of drivers, of those that these ports need and that the
// EAL needs itself. It is empty where the EAL has to load all that there are: ports of cards and of
// raw DPDK arguments may need any of them, and a file may have another name than we know.
std::vector<std::string> driver_files(const control::DaemonConfig& config,
                                      const std::string& directory);

// Whoever looks for this directory next does not find it. The EAL loads all drivers that it finds
// in a directory of its own, some hundred and thirty libraries, and there is no option against
// that: it took a third of a start. It looks there first of all, and then once more for each of the
// files that it is given.
void hide_once(const char* directory);

// Tells of a file as stat() does, but not of a directory that is hidden.
int stat_what_is_shown(const char* file, struct stat64* status);

}  // namespace tributary::dataplane
