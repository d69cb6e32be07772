// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "host/clock.h"
#include "host/error.h"
#include "system/file_descriptor.h"

namespace tributary::host {

struct Entry;

// A file in the JSON array format of Chrome's traces, which Perfetto opens: an event on each line,
// and no end of the array, which the format does not need. The ranks of a machine add to the same
// file. A process is called, and sorted, by its rank in the first communicator that it makes, and
// has a row for each communicator, in the order in which it made them. The lines of several files
// are one file of all behind one beginning.
class Timeline {
 public:
  static Result<std::unique_ptr<Timeline>> open(const std::string& path, std::uint32_t rank,
                                                std::uint32_t world_size);

  // Opens a row beside those of communicators, for what else this process does. Precondition: one
  // of its communicators has a row in the file.
  static Result<std::unique_ptr<Timeline>> open_row(const std::string& path,
                                                    const std::string& name);

  // What cannot be written is left out: a full disk is no reason to stop a collective.
  void add(const Entry& entry);
  // `arguments` are those of the event, in JSON without the braces.
  void add(std::string_view category, std::string_view name, Time began, Time ended,
           const std::string& arguments);

 private:
  // Makes the row of that number among those of this process.
  Timeline(FileDescriptor file, unsigned number);
  static Result<std::unique_ptr<Timeline>> open_next(const std::string& path);
  void begin();
  void name_row(const std::string& name);
  // Describes the row by an event of the format's own, with its arguments.
  void describe_row(const char* how, const std::string& arguments);
  void write(const std::string& line);

  FileDescriptor file_;
  unsigned number_;
  std::string row_;  // as events name it
};

}  // namespace tributary::host
