// SPDX-License-Identifier: BSD-3-Clause
#include "output.h"

#include <algorithm>
#include <cstdio>
#include <span>

#include "control/join.h"

namespace tributary::ctl {
namespace {

std::string scaled(double value, double step, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  char text[64];
  const int digits = unit == 0 || value >= 100 ? 0 : (value >= 10 ? 1 : 2);
  std::snprintf(text, sizeof(text), "%.*f %s", digits, value, units[unit]);
  return text;
}

ExitCode exit_code(const control::CallError& error) {
  switch (error.kind) {
    case control::CallError::Kind::no_daemon:
      return ExitCode::no_daemon;
    case control::CallError::Kind::denied:
      return ExitCode::denied;
    case control::CallError::Kind::timeout:
      return ExitCode::timeout;
    case control::CallError::Kind::failed:
      break;
  }
  const auto code = error.failure.code;
  if (code == control::ErrorCode::late || code == control::ErrorCode::busy) {
    return ExitCode::timeout;
  }
  return ExitCode::failed;
}

const char* code_name(const control::CallError& error) {
  switch (error.kind) {
    case control::CallError::Kind::no_daemon:
      return "no_daemon";
    case control::CallError::Kind::denied:
      return "denied";
    case control::CallError::Kind::timeout:
      return "timeout";
    case control::CallError::Kind::failed:
      break;
  }
  return "failed";
}

// Each error of a configuration is printed as "FILE:LINE:COLUMN: message (hint)".
void print_details(const nlohmann::json& details) {
  if (details.is_object() && details.contains("changes")) {
    for (const auto& change : details["changes"]) {
      std::fprintf(stderr, "  %s\n", change.value("line", "").c_str());
    }
  }
  if (!details.is_array()) {
    return;
  }
  for (const auto& error : details) {
    const std::string hint = error.value("hint", "");
    const auto line = error.value("line", std::uint64_t{0});
    const std::string place =
        line == 0 ? std::string()
                  : std::to_string(line) + ":" +
                        std::to_string(error.value("column", std::uint64_t{0})) + ":";
    std::fprintf(stderr, "%s:%s %s%s\n", error.value("file", "").c_str(), place.c_str(),
                 error.value("message", "").c_str(),
                 hint.empty() ? "" : (" (" + hint + ")").c_str());
  }
}

}  // namespace

// Paths may be no UTF-8.
void print_json(const nlohmann::json& value) {
  const std::string text = value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
}

void print_json_line(const nlohmann::json& value) {
  const std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

ExitCode print_result(const Options& options, const nlohmann::json& result,
                      const std::string& line) {
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s\n", line.c_str());
  }
  return ExitCode::ok;
}

ExitCode report(const Options& options, ExitCode code, const std::string& name,
                const std::string& message, const nlohmann::json& details) {
  if (options.json) {
    nlohmann::json error = {{"code", name}, {"message", message}};
    if (!details.is_null()) {
      error["details"] = details;
    }
    const nlohmann::json document = {{"error", std::move(error)}};
    options.json_lines ? print_json_line(document) : print_json(document);
  } else {
    std::fprintf(stderr, "tributaryctl: %s\n", message.c_str());
    print_details(details);
  }
  return code;
}

ExitCode report(const Options& options, const control::CallError& error) {
  const bool answered = !error.failure.message.empty();
  const std::string name =
      answered ? std::string(control::name(error.failure.code)) : code_name(error);
  return report(options, exit_code(error), name, error.message, error.failure.details);
}

void print_table(const std::vector<Heading>& headings, const std::vector<Cells>& rows) {
  std::vector<std::size_t> widths;
  for (const Heading& heading : headings) {
    widths.push_back(heading.title.size());
  }
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const auto print = [&](std::size_t column, const std::string& cell) {
    const auto width = static_cast<int>(widths[column]);
    const bool last = column + 1 == headings.size();
    if (headings[column].right) {
      std::printf("%*s", width, cell.c_str());
    } else {
      std::printf("%-*s", last ? 0 : width, cell.c_str());
    }
    std::printf("%s", last ? "\n" : "  ");
  };
  for (std::size_t i = 0; i < headings.size(); ++i) {
    print(i, headings[i].title);
  }
  for (const Cells& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      print(i, row[i]);
    }
  }
}

std::string joined(const std::set<std::uint32_t>& numbers) {
  return control::join(numbers, control::as_text);
}

std::string rate_for_people(double bits_per_second) {
  constexpr const char* units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return scaled(bits_per_second, 1000, units);
}

std::string bytes_for_people(double bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return scaled(bytes, 1024, units);
}

std::string seconds_for_people(double seconds) {
  char text[64];
  const auto whole = static_cast<long long>(seconds);
  if (seconds > 0 && seconds < 0.001) {
    std::snprintf(text, sizeof(text), "%.0f us", seconds * 1'000'000);
  } else if (seconds < 1) {
    std::snprintf(text, sizeof(text), "%.1f ms", seconds * 1000);
  } else if (seconds < 60) {
    std::snprintf(text, sizeof(text), "%.1f s", seconds);
  } else if (whole < 3600) {
    std::snprintf(text, sizeof(text), "%lld min %lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof(text), "%lld h %lld min", whole / 3600, whole / 60 % 60);
  }
  return text;
}

}  // namespace tributary::ctl
