// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "output.h"

namespace tributary::ctl {

ExitCode set_port(const Options& options, const std::string& switch_name, const std::string& port,
                  bool up);
// With `force`, trees that are in use are removed, too.
ExitCode remove_trees(const Options& options, const std::string& switch_name, std::uint32_t job,
                      bool force);
ExitCode log_level(const Options& options, const std::string& level);  // empty: show it
ExitCode stop_daemon(const Options& options);
ExitCode show_version(const Options& options);

ExitCode check_config(const Options& options, const std::string& file);  // without a daemon
ExitCode diff_config(const Options& options, const std::string& file);
ExitCode reload_config(const Options& options, const std::string& file);

// Shows rates per port, every `interval_s`, `count` times (0: until interrupted). Programs get one
// line of JSON per tick.
ExitCode watch(const Options& options, double interval_s, std::uint64_t count);

}  // namespace tributary::ctl
