// SPDX-License-Identifier: BSD-3-Clause
#include "output_file.h"

#include <cerrno>
#include <cstring>

namespace tributary::pktgen {

void CloseFile::operator()(FILE* file) const {
  if (file != stdout) {
    std::fclose(file);
  }
}

tl::expected<OutputFile, std::string> open_output(const std::string& option,
                                                  const std::string& name) {
  OutputFile file(name == "-" ? stdout : std::fopen(name.c_str(), "w"));
  if (file == nullptr) {
    return tl::unexpected("cannot write " + option + " " + name + ": " + std::strerror(errno));
  }
  return file;
}

tl::expected<void, std::string> flush_output(FILE* file, const std::string& option,
                                             const std::string& name) {
  if (std::fflush(file) != 0 || std::ferror(file) != 0) {
    return tl::unexpected("cannot write all of " + option + " " + name + "; is the disk full?");
  }
  return {};
}

}  // namespace tributary::pktgen
