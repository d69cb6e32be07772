// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/client.h"

namespace tributary::ctl {

// The process ends with one of these (docs/reference/tributaryctl.md).
enum class ExitCode { ok = 0, failed = 1, usage = 2, no_daemon = 3, denied = 4, timeout = 5 };

// These are the global options.
struct Options {
  std::string socket = "/run/tributary/control.sock";
  bool json = false;
  bool json_lines = false;  // a document a line, errors, too
  double timeout_s = 5;

  std::chrono::milliseconds timeout() const {
    return std::chrono::milliseconds(static_cast<std::int64_t>(timeout_s * 1000));
  }
};

// Prints one JSON document, indented, on standard output.
void print_json(const nlohmann::json& value);
// Prints one in a line of its own, at once.
void print_json_line(const nlohmann::json& value);
// Prints what went well: that document for programs, a line for people.
ExitCode print_result(const Options& options, const nlohmann::json& result,
                      const std::string& line);

// Reports an error for people on standard error, or for programs on standard output.
ExitCode report(const Options& options, ExitCode code, const std::string& name,
                const std::string& message, const nlohmann::json& details = nullptr);
ExitCode report(const Options& options, const control::CallError& error);

// A table shows this as the parent of a tree's root. No port can be called so.
inline constexpr const char* root_parent = "(root)";

using Cells = std::vector<std::string>;
struct Heading {
  std::string title;
  bool right = false;  // numbers are aligned to the right
};
// The columns are as wide as their widest cell.
void print_table(const std::vector<Heading>& headings, const std::vector<Cells>& rows);

// Joins numbers as in "7, 8".
std::string joined(const std::set<std::uint32_t>& numbers);

// These return texts for people: "1.5 Gbit/s", "64 MiB", "3 min 2 s".
std::string rate_for_people(double bits_per_second);
std::string bytes_for_people(double bytes);
std::string seconds_for_people(double seconds);

}  // namespace tributary::ctl
