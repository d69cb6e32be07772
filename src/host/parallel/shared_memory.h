// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "host/clock.h"
#include "host/error.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// Memory of several processes of one machine, without a name: it ends with the last of them.
class SharedMemory {
 public:
  static Result<SharedMemory> create(std::size_t bytes);
  // Maps memory as received from the process that made it. Its size is checked.
  static Result<SharedMemory> map(FileDescriptor memory, std::size_t bytes);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::byte* data() { return data_; }
  int descriptor() const { return memory_.get(); }

 private:
  SharedMemory(FileDescriptor memory, std::byte* data, std::size_t bytes)
      : memory_(std::move(memory)), data_(data), bytes_(bytes) {}

  FileDescriptor memory_;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// These go over a Unix socket.
Result<void> send_descriptor(int socket, int descriptor, Time until);
Result<FileDescriptor> receive_descriptor(int socket, Time until);

}  // namespace tributary::host
