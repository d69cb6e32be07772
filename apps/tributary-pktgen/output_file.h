// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include <tl/expected.hpp>

namespace tributary::pktgen {

struct CloseFile {
  void operator()(FILE* file) const;
};
using OutputFile = std::unique_ptr<FILE, CloseFile>;

// Opens the file that `option` names; "-" is standard output, which stays open.
tl::expected<OutputFile, std::string> open_output(const std::string& option,
                                                  const std::string& name);

// Flushes the file. What failed before the last buffer is only to be seen on the stream.
tl::expected<void, std::string> flush_output(FILE* file, const std::string& option,
                                             const std::string& name);

}  // namespace tributary::pktgen
