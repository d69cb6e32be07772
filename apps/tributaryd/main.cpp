// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/config_warnings.h"
#include "control/loader.h"
#include "control/reference.h"
#include "control/socket_file.h"
#include "decimal.h"
#include "end_of_parse.h"
#include "logging.h"
#include "reference.h"
#include "serve.h"

namespace {

// With this file the start would fail. It may be another host's, so that it is good nevertheless.
void warn_of_control_socket(const std::string& file, const std::string& socket) {
  if (const auto missing = tributary::control::missing_directory(socket)) {
    std::fprintf(stderr,
                 "%s: warning: the control socket %s cannot be made here: %s is no directory; make "
                 "it, or choose another path with `control` in [daemon]\n",
                 file.c_str(), socket.c_str(), missing->c_str());
  }
}

int run(int argc, char** argv) {
  CLI::App app("Software switch with in-network allreduce.", "tributaryd");
  std::string file;
  std::string log_level;
  bool check = false;
  app.add_option("--config,-c", file, "Configuration (TOML)")->required()->type_name("FILE");
  app.add_flag("--check", check, "Check the configuration and exit: 0 if it is good, else 1");
  const auto& levels = tributary::control::log_levels;
  app.add_option("--log-level", log_level, "Instead of the configuration's")
      ->check(CLI::IsMember(std::vector<std::string>(levels.begin(), levels.end())));
  tributary::apps::add_reference(
      app, "the options of a configuration, but for its top level, counters and drop reasons",
      tributary::control::reference_text);
  app.set_version_flag("--version", "tributaryd " TRIBUTARY_VERSION);
  try {
    tributary::apps::parse_decimal(app, argc, argv);
  } catch (const CLI::ParseError& error) {
    return tributary::apps::end_of_parse(app, error);
  }
  auto config = tributary::control::load_config(file);
  if (!config) {
    std::fputs(tributary::control::to_string(config.error()).c_str(), stderr);
    return 1;
  }
  if (check) {
    warn_of_control_socket(file, config->control_socket);
    for (const auto& warning : tributary::control::warnings_of(*config)) {
      std::fprintf(stderr, "%s: warning: %s\n", file.c_str(), warning.c_str());
    }
    std::printf("%s: good\n", file.c_str());
    return 0;
  }
  tributary::daemon::start_logging(log_level.empty() ? config->log_level : log_level);
  const int status = tributary::daemon::serve(*config);
  tributary::daemon::finish_logging();
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tributaryd: %s\n", error.what());
    return 1;
  }
}
