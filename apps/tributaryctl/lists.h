// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "columns.h"
#include "output.h"

namespace tributary::ctl {

// ListOptions are the filters and limits of a list.
struct ListOptions {
  std::string switch_name;  // empty: all
  std::uint64_t limit = 1000;
};

ExitCode show_list(const Options& options, const ListCommand& command, const ListOptions& list);
ExitCode show_engines(const Options& options, const ListOptions& list);
ExitCode show_stalled(const Options& options, const ListOptions& list);
ExitCode show_drops(const Options& options, bool all);
ExitCode show_handlers(const Options& options);
ExitCode show_counters(const Options& options);
ExitCode show_status(const Options& options);

// Makes one call on a connection of its own.
tl::expected<nlohmann::json, control::CallError> call_daemon(const Options& options,
                                                             const std::string& method,
                                                             nlohmann::json params);

}  // namespace tributary::ctl
