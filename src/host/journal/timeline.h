// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "host/error.h"
#include "host/transport/file_descriptor.h"

namespace tributary::host {

struct Entry;

// A file in the JSON array format of Chrome's traces, which Perfetto opens: an event on each line,
// and no end of the array, which the format does not need. Ranks of one machine, or one shared
// directory, add to the same file; those of several files make one by putting them together.
class Timeline {
 public:
  static Result<std::unique_ptr<Timeline>> open(const std::string& path, std::uint32_t rank);

  // What cannot be written is left out: a full disk is no reason to stop a collective.
  void add(const Entry& entry);

 private:
  Timeline(FileDescriptor file, std::uint32_t rank) : file_(std::move(file)), rank_(rank) {}
  void write(const std::string& line);

  FileDescriptor file_;
  std::uint32_t rank_;
};

}  // namespace tributary::host
