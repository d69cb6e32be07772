// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <sys/un.h>

namespace tributary::control {

// A path has at most so many bytes, without the terminating zero (unix(7)).
inline constexpr std::size_t unix_path_max = sizeof sockaddr_un::sun_path - 1;

// This is found where a Unix socket is to be made.
enum class SocketFile {
  none,
  other,   // a file of another kind
  served,  // somebody listens
  stale,   // it was somebody's who has gone
  unknown  // errno says why
};

// `type` is that of the socket, or another one: then whoever listens does not notice.
SocketFile look_at_socket(const std::string& path, int type);

// Says which directory is missing for a socket at `path`: the one that it lies in, or the one above
// that, as a daemon makes the first. There is no value if none is missing, or if that cannot be
// seen.
std::optional<std::string> missing_directory(const std::string& path);

// Returns no value if the path is empty or too long.
std::optional<sockaddr_un> unix_address(const std::string& path);

}  // namespace tributary::control
