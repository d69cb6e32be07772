// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace tributary::control {

// A listening Unix socket with its file. Owns both; the file is removed with it, unless somebody
// has put another in its place.
class Listener {
 public:
  // Mode 0660, and `group` unless empty. The parent directory is made if it is missing. A socket
  // that nobody serves any more is replaced.
  static tl::expected<Listener, std::string> create(const std::string& path,
                                                    const std::string& group);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return fd_; }

 private:
  Listener(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_ = -1;
  std::string path_;
  std::uint64_t inode_ = 0;
};

}  // namespace tributary::control
