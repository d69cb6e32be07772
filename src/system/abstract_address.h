// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace tributary {

// An AbstractAddress names a Unix socket that stands in no file system, and vanishes with its
// owner: its path begins with a zero, and its length is part of the address.
class AbstractAddress {
 public:
  explicit AbstractAddress(const std::string& name) {
    address_.sun_family = AF_UNIX;
    const auto length = name.copy(address_.sun_path + 1, sizeof address_.sun_path - 1);
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t size() const { return size_; }

 private:
  sockaddr_un address_{};
  socklen_t size_ = 0;
};

}  // namespace tributary
