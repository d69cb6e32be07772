// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "system/file_descriptor.h"

namespace tributary::control {

// A Listener is a listening Unix socket with its file. It owns both; the file is removed with it,
// unless somebody has put another in its place.
class Listener {
 public:
  // The socket has mode 0660, and `group` unless that is empty. The parent directory is made if it
  // is missing. A socket that nobody serves any more is replaced.
  static tl::expected<Listener, std::string> create(const std::string& path,
                                                    const std::string& group);
  Listener(Listener&&) noexcept = default;
  Listener& operator=(Listener&&) = delete;
  ~Listener();

  int fd() const { return fd_.get(); }

 private:
  Listener(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  FileDescriptor fd_;
  std::string path_;
  std::uint64_t inode_ = 0;
};

}  // namespace tributary::control
