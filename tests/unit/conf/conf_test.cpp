// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "control/loader.h"

namespace tributary::control {
namespace {

namespace fs = std::filesystem;

// Every configuration of a daemon in conf/; conf/labs describes labs.
std::vector<fs::path> configurations() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(TRIBUTARY_CONF)) {
    if (entry.path().extension() == ".toml" && entry.path().parent_path().filename() != "labs") {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(Conf, EverySampleLoads) {
  EXPECT_GE(configurations().size(), 8u);
  for (const fs::path& path : configurations()) {
    const auto config = load_config(path.string());
    if (!config) {
      for (const ConfigError& error : config.error()) {
        ADD_FAILURE() << error.file << ":" << error.line << ":" << error.column << ": "
                      << error.message << " " << error.hint;
      }
    }
  }
}

}  // namespace
}  // namespace tributary::control
